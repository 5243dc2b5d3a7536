! sums.f90 - OpenMP loops over arrays.
program sums
  implicit none
  integer, parameter :: n = 300000
  integer :: i
  integer(8) :: total
  real(8), allocatable :: a(:), b(:)
  allocate(a(n), b(n))
  total = 0
  !$omp parallel do
  do i = 1, n
     a(i) = i * 0.5d0
     b(i) = mod(i, 7)
  end do
  !$omp end parallel do
  !$omp parallel do reduction(+:total)
  do i = 1, n
     total = total + int(a(i) * b(i), 8)
  end do
  !$omp end parallel do
  print *, total, sum(sqrt(a(1:100)))
end program sums
