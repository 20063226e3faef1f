package sandbox

// seatbeltBase is what every program gets: the system's libraries and programs,
// and what Python, numpy, matplotlib and the engine ask the kernel for. Left out
// on purpose: keychain (securityd), launchservices, pasteboard, cfprefsd,
// DNS, and every socket, for a service's socket is network-outbound and no file.
const seatbeltBase = `(version 1)
(deny default)
(allow process-fork)
(allow process-exec* (subpath "/bin") (subpath "/usr/bin") (subpath "/usr/libexec"))
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read*
  (literal "/")
  (subpath "/bin") (subpath "/usr/bin") (subpath "/usr/lib") (subpath "/usr/libexec") (subpath "/usr/share")
  (subpath "/System/Library/Frameworks") (subpath "/System/Library/PrivateFrameworks") (subpath "/System/Library/SubFrameworks")
  (subpath "/System/Library/Fonts") (subpath "/Library/Fonts")
  (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/System/Cryptexes")
  (subpath "/System/Library/dyld")
  (literal "/System/Library/CoreServices/SystemVersion.plist")
  (literal "/System/Library/CoreServices/.SystemVersionPlatform.plist")
  (subpath "/private/var/db/timezone") (literal "/private/etc/localtime") (literal "/private/var/select/sh")
  (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait"))
(allow file-map-executable
  (subpath "/bin") (subpath "/usr/bin") (subpath "/usr/libexec") (subpath "/System/Library/dyld")
  (subpath "/usr/lib") (subpath "/System/Library/Frameworks") (subpath "/System/Library/PrivateFrameworks")
  (subpath "/System/Library/SubFrameworks") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/System/Cryptexes"))
(allow file-read-metadata (literal "/etc") (literal "/tmp") (literal "/var") (literal "/private") (literal "/private/etc") (literal "/private/var")
  (literal "/private/var/db") (literal "/private/var/select") (literal "/dev") (literal "/usr") (literal "/Library")
  (literal "/System") (literal "/System/Library") (literal "/System/Volumes") (literal "/System/Volumes/Preboot"))
(allow file-read* file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))
(allow file-read-data file-write-data (subpath "/dev/fd"))
(allow sysctl-read
  (sysctl-name "hw.activecpu" "hw.byteorder" "hw.cacheconfig" "hw.cachelinesize_compat" "hw.cpufamily" "hw.cpusubfamily" "hw.cputype"
    "hw.l1dcachesize_compat" "hw.l1icachesize_compat" "hw.l2cachesize_compat" "hw.l3cachesize_compat"
    "hw.logicalcpu" "hw.logicalcpu_max" "hw.machine" "hw.memsize" "hw.model" "hw.ncpu" "hw.nperflevels" "hw.packages"
    "hw.pagesize" "hw.pagesize_compat" "hw.physicalcpu" "hw.physicalcpu_max" "hw.tbfrequency_compat" "hw.vectorunit"
    "kern.argmax" "kern.maxfilesperproc" "kern.maxproc" "kern.ngroups" "kern.osproductversion" "kern.osrelease" "kern.ostype"
    "kern.osvariant_status" "kern.osversion" "kern.secure_kernel" "kern.sysv.semmni" "kern.usrstack64" "kern.version"
    "machdep.cpu.brand_string" "sysctl.proc_cputype" "vm.loadavg")
  (sysctl-name-prefix "hw.optional.") (sysctl-name-prefix "hw.perflevel"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink
  (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
`

// seatbeltGPU lets Metal reach the graphics card and compile its programs.
const seatbeltGPU = `(allow iokit-open (iokit-user-client-class "AGXDeviceUserClient") (iokit-user-client-class "IOSurfaceRootUserClient"))
(allow iokit-get-properties)
(allow mach-lookup (global-name "com.apple.MTLCompilerService"))
(allow file-read* file-map-executable (subpath "/System/Library/Extensions"))
`
