# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# Prompt of the interactive shell.
PS1="\u@$ROLE:\w\$ "
