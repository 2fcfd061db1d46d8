// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: the module goes, and comes again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rnt.h"

#define DEVICE	"/dev/rnotify"

static gid_t group;

static const char *module_file(void)
{
	const char *name = getenv("RNOTIFY_KO");

	return name ? name : "/t/rnotify.ko";
}

bool rnt_module_is_there(void)
{
	return access("/sys/module/rnotify", F_OK) == 0;
}

/* 0 or -errno; EWOULDBLOCK is the kernel's word for "in use". */
int rnt_module_unload(void)
{
	struct stat st;

	if (!stat(DEVICE, &st))
		group = st.st_gid;
	return syscall(SYS_delete_module, "rnotify", O_NONBLOCK) ? -errno : 0;
}

void rnt_module_load_(void)
{
	const char *name = module_file();
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		rnt_fail("%s: errno %d", name, errno);
	if (syscall(SYS_finit_module, fd, "", 0))
		rnt_fail("finit_module: errno %d", errno);
	close(fd);
	/* what udev would do */
	if (chown(DEVICE, 0, group) || chmod(DEVICE, 0660))
		rnt_fail(DEVICE ": errno %d", errno);
}
