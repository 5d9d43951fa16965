/**
 * The runner: a few lines of POSIX sh that outlive the worker and write down what became of one command.
 * It takes `$1` (the gate to create), `$2` (where to record the end) and, in variables that it removes
 * before the command starts, the boot id and the command.
 *
 * Why sh: it is on every host, starts in a millisecond, and needs nothing of ours to stay alive while
 * Holdfast itself is upgraded or removed. Why through a variable: `pkill -9 -f PATTERN` in the command
 * looks at argument lists, and must not find its own text in the runner's.
 */

/** What `sh -c` is given; the script itself is in RUNNER_VARIABLE. */
export const RUNNER_ARGUMENT = `eval "$HOLDFAST_RUNNER"`;

/** The environment variables that carry the script and its values. Gone when the command starts. */
export const RUNNER_VARIABLES = {
  script: 'HOLDFAST_RUNNER',
  boot: 'HOLDFAST_RUNNER_BOOT',
  command: 'HOLDFAST_RUNNER_COMMAND',
} as const;

/** How often, a second apart, the end is tried to be recorded while the disk is full. */
const RECORD_TRIES = 600;

/**
 * - Traps that do something (`:`) are reset in children, ignored signals would be inherited: so the runner
 *   survives a TERM of its group, and the command gets the defaults.
 * - `set -C` makes `>` an exclusive create (O_EXCL): of the runner and a reconciler one alone gets the gate.
 * - The command's name in /proc/PID/stat may hold blanks: fields are counted from the last parenthesis.
 * - Without a start time nobody could tell this process from a later one: then nothing is run.
 * - Each record is one write and ends with a line `end`; without that line it does not count.
 * - Its own stderr is /dev/null, since shells announce killed children there; the command's is the spool,
 *   redirected in a subshell because dash would redirect itself meanwhile.
 * - `--`: a command may begin with a dash.
 */
export const RUNNER_SCRIPT = `
trap : HUP INT QUIT PIPE ALRM TERM USR1 USR2
unset hf_boot hf_command hf_line hf_start hf_up hf_rest hf_shell hf_code hf_try
hf_boot=$HOLDFAST_RUNNER_BOOT hf_command=$HOLDFAST_RUNNER_COMMAND
unset HOLDFAST_RUNNER HOLDFAST_RUNNER_BOOT HOLDFAST_RUNNER_COMMAND
hf_ticks() { shift 19; hf_start=$1; }
hf_words() { hf_start=$*; }
hf_clock() { if [ -r /proc/uptime ]; then read -r hf_up hf_rest < /proc/uptime; else hf_up=-; fi; }
if [ -r /proc/$$/stat ]; then
  read -r hf_line < /proc/$$/stat
  hf_ticks \${hf_line##*) }
else
  hf_words $(LC_ALL=C TZ=UTC0 ps -o lstart= -p $$)
fi
[ -n "$hf_start" ] || exit 76
hf_clock
set -C
printf 'entered runner\\npid %s\\nstart %s\\nboot %s\\nuptime %s\\nend\\n' "$$" "$hf_start" "$hf_boot" "$hf_up" > "$1" || exit 75
set +C
hf_shell=sh
command -v bash > /dev/null && hf_shell=bash
(exec "$hf_shell" -c -- "$hf_command" 2>&1)
hf_code=$?
hf_clock
hf_try=0
until printf 'exited %s\\nuptime %s\\nend\\n' "$hf_code" "$hf_up" > "$2"; do
  hf_try=$((hf_try + 1))
  [ "$hf_try" -lt ${RECORD_TRIES} ] || break
  sleep 1
done
exit "$hf_code"
`;
