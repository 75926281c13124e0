/* LD_PRELOAD shim: makes the n-th call of one OpenCL function fail, and counts live memory objects.
 *
 *   cc -shared -fPIC -O1 -o clfault.so clfault.c -ldl
 *
 * drive.py steers it through ctypes.  pyopencl's wheels carry a libOpenCL of their own under another file
 * name, so the real functions are looked up in whatever loaded library is called libOpenCL.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

static char target[64];
static cl_int error_code;
static int first_failure, last_failure;
static atomic_int calls, failures, live_memory_objects;

/* Fail calls first … last (from 1) of `function` with `code`. */
void clfault_arm(const char *function, int first, int last, int code) {
  strncpy(target, function, sizeof target - 1);
  first_failure = first;
  last_failure = last;
  error_code = code;
  calls = failures = 0;
}
void clfault_disarm(void) { target[0] = 0; }
int clfault_calls(void) { return calls; }
int clfault_failures(void) { return failures; }
int clfault_live_memory_objects(void) { return live_memory_objects; }

static cl_int fault(const char *function) {
  if (strcmp(function, target)) return CL_SUCCESS;
  int call = ++calls;
  if (call < first_failure || call > last_failure) return CL_SUCCESS;
  failures++;
  return error_code;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *library) {
  (void)size;
  if (!info->dlpi_name || !strstr(info->dlpi_name, "libOpenCL")) return 0;
  *(void **)library = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  return 1;
}
static void *real(const char *function) {
  static void *library;
  if (!library) dl_iterate_phdr(find_library, &library);
  return dlsym(library ? library : RTLD_NEXT, function);
}

#define FAULTY(NAME, PARAMETERS, ARGUMENTS)                                  \
  cl_int NAME PARAMETERS {                                                   \
    static cl_int (*next) PARAMETERS;                                        \
    if (!next) next = (cl_int (*) PARAMETERS)real(#NAME);                    \
    cl_int code = fault(#NAME);                                              \
    return code ? code : next ARGUMENTS;                                     \
  }
#define FAULTY_CREATION(TYPE, NAME, PARAMETERS, ARGUMENTS, ON_SUCCESS)       \
  TYPE NAME PARAMETERS {                                                     \
    static TYPE (*next) PARAMETERS;                                          \
    if (!next) next = (TYPE (*) PARAMETERS)real(#NAME);                      \
    cl_int code = fault(#NAME);                                              \
    if (code) {                                                              \
      if (status) *status = code;                                            \
      return NULL;                                                           \
    }                                                                        \
    TYPE object = next ARGUMENTS;                                            \
    if (object) { ON_SUCCESS; }                                              \
    return object;                                                           \
  }

typedef void(CL_CALLBACK *program_callback)(cl_program, void *);
typedef void(CL_CALLBACK *context_callback)(const char *, const void *, size_t, void *);

FAULTY_CREATION(cl_context, clCreateContext,
                (const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
                 context_callback callback, void *data, cl_int *status),
                (properties, n, devices, callback, data, status), )
FAULTY_CREATION(cl_command_queue, clCreateCommandQueue,
                (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *status),
                (context, device, properties, status), )
FAULTY_CREATION(cl_command_queue, clCreateCommandQueueWithProperties,
                (cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *status),
                (context, device, properties, status), )
FAULTY_CREATION(cl_program, clCreateProgramWithSource,
                (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *status),
                (context, n, texts, lengths, status), )
FAULTY_CREATION(cl_program, clCreateProgramWithBinary,
                (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
                 const unsigned char **binaries, cl_int *binary_status, cl_int *status),
                (context, n, devices, lengths, binaries, binary_status, status), )
FAULTY_CREATION(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *status),
                (program, name, status), )
FAULTY_CREATION(cl_mem, clCreateBuffer,
                (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status),
                (context, flags, size, host, status), live_memory_objects++)
FAULTY(clBuildProgram,
       (cl_program program, cl_uint n, const cl_device_id *devices, const char *options, program_callback callback,
        void *data),
       (program, n, devices, options, callback, data))
FAULTY(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
       (kernel, index, size, value))
FAULTY(clEnqueueNDRangeKernel,
       (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
        const size_t *local, cl_uint n, const cl_event *waits, cl_event *event),
       (queue, kernel, dimensions, offset, global, local, n, waits, event))
FAULTY(clEnqueueReadBuffer,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host, cl_uint n,
        const cl_event *waits, cl_event *event),
       (queue, buffer, blocking, offset, size, host, n, waits, event))
FAULTY(clEnqueueWriteBuffer,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,
        cl_uint n, const cl_event *waits, cl_event *event),
       (queue, buffer, blocking, offset, size, host, n, waits, event))
FAULTY(clEnqueueFillBuffer,
       (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,
        cl_uint n, const cl_event *waits, cl_event *event),
       (queue, buffer, pattern, pattern_size, offset, size, n, waits, event))
FAULTY(clEnqueueCopyBuffer,
       (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, cl_uint n,
        const cl_event *waits, cl_event *event),
       (queue, from, to, from_offset, to_offset, size, n, waits, event))
FAULTY(clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint n, const cl_event *waits, cl_event *event),
       (queue, n, waits, event))
FAULTY(clEnqueueMarker, (cl_command_queue queue, cl_event *event), (queue, event))
FAULTY(clFlush, (cl_command_queue queue), (queue))
FAULTY(clFinish, (cl_command_queue queue), (queue))
FAULTY(clGetEventInfo, (cl_event event, cl_event_info what, size_t size, void *value, size_t *needed),
       (event, what, size, value, needed))
FAULTY(clGetEventProfilingInfo, (cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed),
       (event, what, size, value, needed))
FAULTY(clWaitForEvents, (cl_uint n, const cl_event *events), (n, events))

cl_int clRetainMemObject(cl_mem object) {
  static cl_int (*next)(cl_mem);
  if (!next) next = (cl_int(*)(cl_mem))real("clRetainMemObject");
  cl_int code = next(object);
  if (!code) live_memory_objects++;
  return code;
}
cl_int clReleaseMemObject(cl_mem object) {
  static cl_int (*next)(cl_mem);
  if (!next) next = (cl_int(*)(cl_mem))real("clReleaseMemObject");
  cl_int code = next(object);
  if (!code) live_memory_objects--;
  return code;
}
