# Makes the attempts of attempts.sh, one shell each, and prints one JSON object a
# line. usage: run.sh [control [ours]] | run.sh one NAME
. ./facts.sh
KEY=$HOME_DECOY/.ssh/id_rsa

absent() { echo "$*"; exit 3; }
# secret COMMAND... succeeds when the command prints what only a decoy holds.
secret() { got=$("$@") && case $got in *"$SECRET"*) echo "secret read" ;; *) return 1 ;; esac; }
# has COMMAND: most machines have it; inside it may be missing.
has() { command -v "$1" >/dev/null 2>&1 || absent "no $1"; }

. ./attempts.sh

if [ "$1" = one ]; then
	"$2"
	exit
fi

kind=$(uname -s | tr A-Z a-z)
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout -k 1 10"
json() { printf %s "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g' | cut -c 1-300; }

# code puts the error's name before what a command said, as far as it is known.
code() {
	case $1 in
	*"No such file"* | *"not found"* | *"nonexistent"*) echo "ENOENT: $1" ;;
	*"No such process"* | *"no such process"*) echo "ESRCH: $1" ;;
	*"Permission denied"* | *"permission denied"*) echo "EACCES: $1" ;;
	*"not permitted"*) echo "EPERM: $1" ;;
	*"Read-only file system"*) echo "EROFS: $1" ;;
	*"unreachable"*) echo "ENETUNREACH: $1" ;;
	*"refused"*) echo "ECONNREFUSED: $1" ;;
	*"not supported"*) echo "EAFNOSUPPORT: $1" ;;
	*) echo "$1" ;;
	esac
}

made() {
	case $1 in
	must | may) return 0 ;;
	ours) [ "$ours" = yes ] ;;
	*) return 1 ;;
	esac
}

[ "$1" = control ] && control=yes
[ "$2" = ours ] && ours=yes
while IFS= read -r about; do
	case $about in "#: "*) ;; *) continue ;; esac
	IFS= read -r name
	name=${name%%(*}
	plain=${about#*| }
	set -f
	set -- ${about%% |*}
	set +f
	group=$2 by=$3 when=$4 systems=$5 more=$6
	case $systems in unix | "$kind") ;; *) continue ;; esac
	full=false after=
	case $more in full) full=true ;; *:*) after=$more ;; esac
	result=skipped note=
	if [ -z "$control" ] || made "$when"; then
		note=$($limit /bin/sh ./run.sh one "$name" 2>&1 </dev/null)
		ended=$?
		case $ended in
		0) result=escaped ;;
		3) result=absent ;;
		*) result=stopped note=$(code "${note:-ended with $ended}") ;;
		esac
	fi
	printf '{"group":"%s","name":"%s","plain":"%s","control":"%s","by":"%s","full":%s,"after":"%s","result":"%s","note":"%s"}\n' \
		"$group" "$name" "$(json "$plain")" "$when" "$by" "$full" "$after" "$result" "$(json "$note")"
done <attempts.sh
