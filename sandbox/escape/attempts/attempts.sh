# Attempts in the shell's language. One attempt is one function under its line:
#
#   #: GROUP LAYERS CONTROL SYSTEMS [full|AFTER] | Its sentence.
#   name() { ...; }
#
# It ends with 0 when it has escaped and prints what it reached, with 3 (absent)
# where the machine has no such thing, else it was stopped. The words are those of
# harness.py; SYSTEMS is unix, linux or darwin.

#: files NL must unix | Prints a private key.
sh_key() { secret cat "$KEY"; }

#: files NL must unix | Copies a private key into the work folder.
sh_copy_key() { cp "$KEY" stolen && secret cat stolen; }

#: files NL must unix | Packs the home folder into an archive.
sh_pack_home() { has tar; tar cf home.tar -C "$HOME_DECOY" .ssh && secret cat home.tar; }

#: files NL must unix | Searches all of the home folder for a secret.
sh_search() { grep -r -q "$SECRET" "$HOME_DECOY" && echo found; }

#: files NL must unix | Lists the home folder by a pattern.
sh_pattern() { set -- "$HOME_DECOY"/.s*; [ -e "$1" ] && echo "$1"; }

#: files NL must unix | Reads a key through a symbolic link.
sh_link() { ln -s "$KEY" sh-link && secret cat sh-link; }

#: files NL must unix | Reads a key through a link to a folder.
sh_folder_link() { ln -s "$HOME_DECOY" sh-home && secret cat sh-home/.ssh/id_rsa; }

#: files NL must unix | Gives somebody's file a second name.
sh_hard_link() { ln "$OUTSIDE/secret.txt" sh-hard && secret cat sh-hard; }

#: files NL must unix | Changes into the home folder and reads there.
sh_change_folder() { cd "$HOME_DECOY/.ssh" && secret cat id_rsa; }

#: files NL must linux | Reads a key by way of /proc.
sh_proc_root() { secret cat "/proc/self/root$KEY"; }

#: files NL may linux | Reads a key by way of the first process.
sh_init_root() { secret cat "/proc/1/root$KEY"; }

#: files NL must unix | Writes over somebody's file.
sh_overwrite() { echo pwned >"$OUTSIDE/append.txt" && echo written; }

#: files NL must unix | Adds to somebody's file.
sh_append() { echo pwned | tee -a "$OUTSIDE/append.txt" >/dev/null && echo written; }

#: files NL must unix | Deletes somebody's files.
sh_delete() { rm -r "$OUTSIDE/unlink.txt" && echo deleted; }

#: files NL must unix | Moves somebody's file away.
sh_move() { mv "$OUTSIDE/move.txt" sh-moved && echo moved; }

#: files NS must linux | Lets everybody change somebody's file.
sh_mode() { chmod 777 "$OUTSIDE/mode.txt" && [ "$(stat -c %a "$OUTSIDE/mode.txt")" = 777 ] && echo changed; }

#: files NL must unix | Puts a pipe where a person expects a file.
sh_pipe_trap() { [ -e "$OUTSIDE/secret.txt" ] && mkfifo "$OUTSIDE/report.txt" && echo made; }

#: files NL ours linux | Copies the encrypted passwords of this machine.
sh_shadow() { cp /etc/shadow sh-shadow && echo copied; }

#: files NL ours linux | Reads the disk itself with dd.
sh_disk() { [ -n "$DISK" ] || absent "no disk is known"; dd "if=$DISK" of=sh-disk bs=512 count=1 2>&1 && echo read; }

#: files NL ours linux | Opens the disk itself for writing.
sh_disk_write() { [ -n "$DISK" ] || absent "no disk is known"; (: >>"$DISK") && echo "opened for writing"; }

#: files NR ours linux | Makes a way to the disk with mknod, and reads it.
sh_node() { mknod sh-node b 8 0 && dd if=sh-node of=/dev/null bs=512 count=1 2>&1 && echo read; }

#: persistence NL must unix | Adds a line to the shell's start-up file.
sh_profile() { [ -e "$KEY" ] && echo 'echo pwned' >>"$HOME_DECOY/.bashrc" && echo written; }

#: persistence NL must unix | Puts a program in front of others in the home folder.
sh_home_bin() { [ -e "$KEY" ] && mkdir -p "$HOME_DECOY/.local/bin" && cp run.sh "$HOME_DECOY/.local/bin/ls" && echo written; }

#: persistence ML must unix | Puts a program into a git folder that runs at the next commit.
sh_git_hook() { cp run.sh "$PROJECT/.git/hooks/pre-push" && echo written; }

#: persistence ML must unix | Has git look for its hooks elsewhere.
sh_git_config() { printf '[core]\n\thooksPath = /tmp\n' >>"$PROJECT/.git/config" && echo written; }

#: persistence ML must unix | Puts a link where a project's git settings are.
sh_git_link() { ln -sf "$PROJECT/mine" "$PROJECT/.git/config" && echo linked; }

#: persistence ML must unix | Moves the git hooks away.
sh_git_move() { mv "$PROJECT/.git/hooks" "$PROJECT/.git/old-hooks" && echo moved; }

#: persistence NLR never unix | Has the system run something every minute.
sh_crontab() { has crontab; echo '# none' | crontab - && echo set; }

#: persistence NLR never unix | Has the system run something later.
sh_at() { has at; echo true | at now + 1 hour && echo set; }

#: persistence NS never linux | Has the desktop's services run something.
sh_systemd() { has systemd-run; systemd-run --user true && echo started; }

#: persistence S must linux | Makes a program that runs with its owner's rights.
sh_setuid() { cp run.sh sh-su && chmod u+s sh-su && [ -u sh-su ] && echo "set-id file"; }

#: persistence S must linux | Makes one that runs with its group's rights.
sh_setgid() { cp run.sh sh-sg && chmod 2755 sh-sg && [ -g sh-sg ] && echo "set-id file"; }

#: persistence S may linux | Keeps such a right while copying a program of the system.
sh_keep_setuid() { cp -p /usr/bin/su sh-su2 && [ -u sh-su2 ] && echo "set-id file"; }

#: persistence RS may linux | Gives a program rights of the administrator.
sh_capability() { has setcap; cp run.sh sh-cap && setcap cap_sys_admin+ep sh-cap && echo set; }

#: processes NL must unix | Ends another program of this person.
sh_kill() { kill -0 "$VICTIM" && kill "$VICTIM_SIGNAL" && echo sent; }

#: processes NL never linux | Ends the sandbox's own first process.
sh_kill_first() { kill -9 1 && sleep .2 && ! kill -0 1 && echo ended; }

#: processes NL must linux | Finds another program by what it was started with.
sh_find() { grep -l "$VICTIM_MARK" /proc/"$VICTIM"/cmdline; }

#: processes NL may linux | Copies the variables of another program.
sh_variables() { cp /proc/"$VICTIM"/environ sh-environ && secret cat sh-environ; }

#: processes NLR never linux | Copies the variables of the first process.
sh_first_variables() { secret cat /proc/1/environ; }

#: processes NS must linux | Slows another program down.
sh_nice() { has renice; renice -n 5 -p "$VICTIM"; }

#: processes NLS may linux | Attaches a debugger to another program.
sh_debugger() { has gdb; gdb -p "$VICTIM" -batch 2>&1 | grep -q 'ptrace: Operation' && return 1; echo attached; }

#: kernel S may linux | Becomes administrator of a namespace of its own.
sh_unshare() { has unshare; unshare -r true && echo "new namespace"; }

#: kernel SR may linux | Enters another program's view.
sh_enter() { has nsenter; nsenter -t "$VICTIM" -n true && echo entered; }

#: kernel SR never linux | Mounts a file system.
sh_mount() { has mount; mkdir -p sh-mnt && mount -t tmpfs none sh-mnt && umount sh-mnt && echo mounted; }

#: kernel SR never linux | Makes the system's programs writable again.
sh_remount() { has mount; mount -o remount,bind,rw /usr && echo mounted; }

#: kernel SR may linux | Changes what the root of the disk is.
sh_chroot() { has chroot; chroot / true && echo changed; }

#: kernel R never unix | Asks for the administrator's rights.
sh_sudo() { has sudo; sudo -n true && echo root; }

#: kernel SR ours linux | Reads the kernel's log.
sh_dmesg() { has dmesg; dmesg >/dev/null && echo read; }

#: kernel SR never linux | Sets the clock.
sh_date() { date -s "@$(date +%s)" >/dev/null && echo set; }

#: kernel SR never linux | Renames the machine.
sh_hostname() { has hostname; hostname atoll-escape && echo renamed; }

#: kernel NL never linux | Changes a setting of the kernel.
sh_sysctl() { (echo 1 >/proc/sys/kernel/sysrq) && echo written; }

#: limits X may unix | Raises its own limits again.
sh_ulimit() { ulimit -H -n $(($(ulimit -H -n) + 1)) 2>&1 && echo raised; }

#: limits XS may linux | Takes the limits off with a program made for that.
sh_prlimit() { has prlimit; prlimit --nofile=1048577:1048577 true && echo raised; }

#: network NSL must linux | Connects to a server on this machine with the shell's own means.
sh_connect() { has bash; bash -c "exec 3<>/dev/tcp/127.0.0.1/$TCP4 && echo x >&3 && head -c 4 <&3"; }

#: network NS may linux | Sends a datagram with the shell's own means.
sh_datagram() { has bash; got=$(bash -c "exec 3<>/dev/udp/127.0.0.1/$UDP4 && echo x >&3 && timeout 1 head -c 2 <&3") && [ -n "$got" ] && echo "answer: $got"; }

#: network NS never linux | Fetches a page from the Internet.
sh_fetch() { has curl; curl -s -m 2 http://example.com >/dev/null && echo fetched; }

#: network NS may linux | Lists the machine's addresses.
sh_addresses() { has ip; ip -o addr 2>&1 | grep -v ': lo ' | grep -q inet && echo listed; }

#: messages N must linux full | Sees the socket of the window system.
sh_window_socket() { [ -S "$SOCK_TMP" ] && echo seen; }

#: devices N never unix | Writes to the terminal that it was started from.
sh_terminal() { (echo pwned >/dev/tty) && echo written; }

#: devices N never linux | Writes to everybody's terminals.
sh_wall() { for t in /dev/pts/[0-9]*; do [ -w "$t" ] && echo >"$t" && echo "$t"; done | grep .; }

#: environment E must unix | Finds a token among the variables.
sh_environment() { env | grep -q "$SECRET" && echo seen; }

#: environment NL may linux | Lists who is logged in.
sh_users() { has who; who | grep -q . && echo listed; }

#: leftovers V must unix grows:sh-left-nohup | Leaves a program running in the background.
sh_leave_nohup() {
	nohup sh -c 'i=0; while [ $i -lt 150 ] && [ -e run.sh ]; do printf x >>sh-left-nohup; i=$((i+1)); sleep .1; done' >/dev/null 2>&1 &
	sleep .2
}

#: leftovers V must linux grows:sh-left-setsid | Leaves a program running in a session of its own that ignores being ended.
sh_leave_setsid() {
	has setsid
	setsid sh -c 'trap "" HUP TERM INT; i=0; while [ $i -lt 150 ] && [ -e run.sh ]; do printf x >>sh-left-setsid; i=$((i+1)); sleep .1; done' >/dev/null 2>&1 &
	sleep .2
}

#: leftovers NL must unix exists:left_tmp | Leaves a file among the temporary files of others.
sh_leave_tmp() { echo pwned >"$LEFT_TMP"; }
