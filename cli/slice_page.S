/* slice_page.S - the style and the script of a slice's page, as bytes of this program. SPDX-License-Identifier: MIT */
    .section .rodata
    .globl slice_page_css, slice_page_css_end, slice_page_js, slice_page_js_end
slice_page_css:
    .incbin CSS_PATH
slice_page_css_end:
slice_page_js:
    .incbin JS_PATH
slice_page_js_end:
    .section .note.GNU-stack, "", @progbits
