# Compiles for 64-bit ARM on another Linux: Debian's g++-aarch64-linux-gnu, and the arm64 packages of the same libraries beside this
# machine's own (dpkg --add-architecture arm64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)

# Debian keeps the libraries of each kind of processor in folders of their own, and shares the headers.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

# The program runs in an emulator while its manual page is made, and so do the tests.
find_program(HEADSCOPE_QEMU NAMES qemu-aarch64-static qemu-aarch64 NO_CACHE)
if(HEADSCOPE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEADSCOPE_QEMU})
endif()
