//go:build !unix

package worker

import "errors"

func findStrlen() (uintptr, error) { return 0, errors.ErrUnsupported }
