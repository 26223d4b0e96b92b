// Memory comes from mimalloc in the whole program: this header defines new and delete.
#include <mimalloc-new-delete.h>
