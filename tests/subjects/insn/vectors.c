/* vectors.c - known answers of SSE to AVX2, FMA, BMI, AES, SHA, CLMUL, F16C, ADX, MOVBE, POPCNT. */
#include "subject.h"
#include <immintrin.h>

static void show(const char *name, const void *p, int n)
{
    say("%s", name);
    for (int i = 0; i < n; i++)
        say(" %02x", ((const uint8_t *)p)[i]);
    say("\n");
}

static uint8_t a[32], b[32], r[32];

__attribute__((target("sse4.2,popcnt,ssse3"))) static void sse(void)
{
    __m128i x = _mm_loadu_si128((void *)a), y = _mm_loadu_si128((void *)b), z;
    z = _mm_shuffle_epi8(x, y);
    show("pshufb", &z, 16);
    z = _mm_mpsadbw_epu8(x, y, 3);
    show("mpsadbw", &z, 16);
    z = _mm_minpos_epu16(x);
    show("phminposuw", &z, 16);
    say("pcmpestri %d crc %x popcnt %lld\n", _mm_cmpestri(x, 5, y, 9, 0), _mm_crc32_u32(7, 99),
        _mm_popcnt_u64(0x1234567));
    z = _mm_maddubs_epi16(x, y);
    show("pmaddubsw", &z, 16);
    _mm_maskmoveu_si128(x, y, (char *)r);
    show("maskmovdqu", r, 16);
}

__attribute__((target("avx2,fma,f16c"))) static void avx2(void)
{
    __m256i x = _mm256_loadu_si256((void *)a), y = _mm256_loadu_si256((void *)b), z;
    z = _mm256_permutevar8x32_epi32(x, y);
    show("vpermd", &z, 32);
    z = _mm256_i32gather_epi32((const int *)a, _mm256_set_epi32(7, 5, 3, 1, 0, 2, 4, 6), 4);
    show("vpgatherdd", &z, 32);
    z = _mm256_sllv_epi32(x, _mm256_and_si256(y, _mm256_set1_epi32(31)));
    show("vpsllvd", &z, 32);
    _mm256_maskstore_epi32((int *)r, y, x);
    show("vpmaskmov", r, 32);
    __m256d d = _mm256_set_pd(1.5, 2.5, -3.5, 1e10), e = _mm256_set1_pd(0.1);
    d = _mm256_fmadd_pd(d, e, d);
    show("vfmadd", &d, 32);
    __m128i h = _mm256_cvtps_ph(_mm256_set1_ps(3.14159f), 0);
    show("vcvtps2ph", &h, 16);
    d = _mm256_round_pd(_mm256_sqrt_pd(d), _MM_FROUND_TO_NEG_INF);
    show("vsqrt round", &d, 32);
}

__attribute__((target("bmi,bmi2,lzcnt,movbe,adx"))) static void bits(void)
{
    unsigned long long hi, lo, out;
    lo = _mulx_u64(0x123456789abcdef0, 0xfedcba9876543210, &hi);
    say("mulx %llx %llx pdep %lx pext %lx\n", hi, lo, (long)_pdep_u64(0x1234, 0xf0f0f0f0f0f0),
        (long)_pext_u64(0x123456789abc, 0xff00ff00ff00));
    say("bzhi %lx andn %lx blsr %lx tzcnt %d lzcnt %d\n", (long)_bzhi_u64(-1ULL, 13),
        (long)_andn_u64(0xff, 0x1234), (long)_blsr_u64(0x1238), (int)_tzcnt_u64(0x1000),
        (int)_lzcnt_u64(0x1000));
    unsigned char c = _addcarryx_u64(1, -1ULL, 5, &out);
    say("adcx %d %llx rorx %lx movbe %x\n", c, out, (0x123456789UL >> 9) | (0x123456789UL << 55),
        __builtin_bswap32(*(volatile unsigned *)a));
}

__attribute__((target("aes,pclmul,sse2"))) static void aes(void)
{
    __m128i x = _mm_loadu_si128((void *)a), k = _mm_loadu_si128((void *)b), z;
    z = _mm_aesenc_si128(x, k);
    show("aesenc", &z, 16);
    z = _mm_aesdeclast_si128(x, k);
    show("aesdeclast", &z, 16);
    z = _mm_aeskeygenassist_si128(x, 0x1b);
    show("aeskeygenassist", &z, 16);
    z = _mm_clmulepi64_si128(x, k, 0x11);
    show("pclmulqdq", &z, 16);
}

__attribute__((target("sha"))) static void sha(void)
{
    __m128i x = _mm_loadu_si128((void *)a), y = _mm_loadu_si128((void *)b), z;
    z = _mm_sha1rnds4_epu32(x, y, 2);
    show("sha1rnds4", &z, 16);
    z = _mm_sha256rnds2_epu32(x, y, _mm_add_epi32(x, y));
    show("sha256rnds2", &z, 16);
    z = _mm_sha256msg2_epu32(x, y);
    show("sha256msg2", &z, 16);
}

int main(void)
{
    for (int i = 0; i < 32; i++) {
        a[i] = (uint8_t)(i * 37 + 11);
        b[i] = (uint8_t)(i * 101 + 3);
    }
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2"))
        sse();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        avx2();
    if (__builtin_cpu_supports("bmi2"))
        bits();
    if (__builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul"))
        aes();
    unsigned eax = 7, ebx, ecx = 0, edx;
    __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    if (ebx & 1u << 29)
        sha();
    return 0;
}
