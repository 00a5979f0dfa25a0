// copy_vectors.cu -- vectors of every element type
//
// Computes  each output element, the elements of a vector in reverse order
// Idea      2, 4, 8 and 16 bytes a lane
// Launch    grid 1, block 50
extern "C" __global__ void copy_vectors(const float2* a, const double2* b, const char4* c, const short2* d, const longlong2* e,
                                        const uchar2* f, const ushort4* g, float2* oa, double2* ob, char4* oc, short2* od,
                                        longlong2* oe, uchar2* of, ushort4* og) {
    const int i = threadIdx.x;
    oa[i] = make_float2(a[i].y, a[i].x);
    ob[i] = make_double2(b[i].y, b[i].x);
    oc[i] = make_char4(c[i].w, c[i].z, c[i].y, c[i].x);
    od[i] = make_short2(d[i].y, d[i].x);
    oe[i] = make_longlong2(e[i].y, e[i].x);
    of[i] = make_uchar2(f[i].y, f[i].x);
    og[i] = make_ushort4(g[i].w, g[i].z, g[i].y, g[i].x);
}
