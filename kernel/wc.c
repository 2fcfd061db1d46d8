// SPDX-License-Identifier: GPL-2.0
/*
 * What a failed completion means: an errno and a reason for the user.
 */
#include "ep.h"

/**
 * rnotify_wc_errno() - errno of a completion status
 * @status: status
 *
 * Return: 0 or a negative errno.
 */
int rnotify_wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNABORTED;
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -ENOBUFS;
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_REM_INV_REQ_ERR:
		return -EPROTO;
	case IB_WC_REM_OP_ERR:
	case IB_WC_REM_ABORT_ERR:
		return -EREMOTEIO;
	default:
		return -EIO;
	}
}

/**
 * rnotify_wc_reason() - why the endpoint ends
 * @status: status of the failed work request
 *
 * Return: &enum rnotify_reason.
 */
u16 rnotify_wc_reason(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return RNOTIFY_REASON_PEER_LOST;
	default:
		return RNOTIFY_REASON_TRANSPORT;
	}
}
