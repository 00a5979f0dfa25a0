// standard_library.cu -- parts of the C++ standard library
//
// Computes  y[i] from complex powers, a sorted array, tuples and optionals
// Idea      cuda/std is the standard library for kernels
// Launch    grid 1, block 64
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>

template <class T, size_t N> __device__ void sort(cuda::std::array<T, N>& a) {
    for (int i = 1; i < N; ++i)
        for (int j = i; j > 0 && a[j] < a[j - 1]; --j) {
            const T kept = a[j];
            a[j] = a[j - 1];
            a[j - 1] = kept;
        }
}

__device__ cuda::std::optional<int> root(int n) {
    for (int k = 0; k * k <= n; ++k)
        if (k * k == n) return k;
    return {};
}

extern "C" __global__ void standard_library(int n, const float* x, float* y, int* z) {
    const int i = threadIdx.x;
    if (i >= n) return;
    cuda::std::complex<float> w(x[i], x[n - 1 - i]);
    w = w * w + w;
    y[i] = w.real();
    y[n + i] = w.imag();
    cuda::std::array<int, 5> five{i * 7 % 11, i * 5 % 13, i, 40 - i, 3};
    sort(five);
    const auto [middle, largest] = cuda::std::make_tuple(five[2], five[4]);
    z[i] = middle * 100 + largest;
    z[n + i] = root(i).value_or(cuda::std::numeric_limits<int>::lowest());
}
