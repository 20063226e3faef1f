# Makes the attempts of attempts.sh. usage: run.sh [control [ours]]
. ./facts.sh
