// copy_structs.cu -- whole structures by value
//
// Computes  out[i] = in[n - 1 - i] with fields changed; scale comes as a structure parameter
// Idea      12, 16 and 40 bytes: the compiler chooses the pieces
// Launch    grid 2, block 48
struct Point { float x, y, z; };
struct __align__(16) Plane { float a, b, c, d; };
struct Record { double value; int key; short tag; char mark; Point where; unsigned char rest[5]; };

extern "C" __global__ void copy_structs(int n, Point scale, const Point* p, Point* q, const Plane* s, Plane* t,
                                        const Record* r, Record* w) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point point = p[n - 1 - i];
    point.x *= scale.x;
    point.y *= scale.y;
    point.z *= scale.z;
    q[i] = point;
    Plane plane = s[n - 1 - i];
    plane.d = plane.a;
    t[i] = plane;
    Record record = r[n - 1 - i];
    record.key += 1;
    record.where.y = -record.where.y;
    record.rest[3] ^= record.mark;
    w[i] = record;
}
