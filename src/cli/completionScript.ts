/** Shell completion: commands, their options, and session ids where an id is wanted. */
import type { CommandSpec } from './specs/spec.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** A script for the shell to source. */
export function completionScript(shell: Shell, commands: CommandSpec[]): string {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const make = { bash, zsh, fish }[shell];
  return make(shown);
}

function bash(commands: CommandSpec[]): string {
  return `# holdfast completion for bash: source <(holdfast completion bash)
_holdfast() {
  local word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  if [[ $word == -* ]]; then
    case $command in
${commands.map((command) => `      ${command.name}) COMPREPLY=($(compgen -W "${flagsOf(command).join(' ')}" -- "$word")) ;;`).join('\n')}
    esac
    return
  fi
  case $command in
    ${takesId(commands).join('|')})
      if [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$(holdfast complete-ids 2>/dev/null | cut -f1)" -- "$word"))
      else
        COMPREPLY=($(compgen -f -- "$word"))
      fi ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _holdfast holdfast
`;
}

function zsh(commands: CommandSpec[]): string {
  return `#compdef holdfast
# holdfast completion for zsh: source <(holdfast completion zsh)
_holdfast() {
  local -a items
  if (( CURRENT == 2 )); then
    items=(
${commands.map(({ name, summary }) => `      ${quote(`${name}:${summary}`)}`).join('\n')}
    )
    _describe command items
    return
  fi
  if [[ \${words[CURRENT]} == -* ]]; then
    case \${words[2]} in
${commands.map((command) => `      ${command.name}) items=(${flagsOf(command).join(' ')}) ;;`).join('\n')}
    esac
    compadd -a items
    return
  fi
  case \${words[2]} in
    ${takesId(commands).join('|')})
      if (( CURRENT == 3 )); then
        items=("\${(@f)$(holdfast complete-ids 2>/dev/null | tr '\\t' ':')}")
        _describe session items
      else
        _files
      fi ;;
    completion) compadd bash zsh fish ;;
    *) _files ;;
  esac
}
compdef _holdfast holdfast
`;
}

function fish(commands: CommandSpec[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap((command) => [
    `complete -c holdfast -f -n "not __fish_seen_subcommand_from ${names}" -a ${command.name} -d ${quote(command.summary)}`,
    ...flagsOf(command).map(
      (flag) => `complete -c holdfast -n "__fish_seen_subcommand_from ${command.name}" -l ${flag.slice(2)}`,
    ),
  ]);
  return `# holdfast completion for fish: holdfast completion fish | source
${lines.join('\n')}
complete -c holdfast -f -n "__fish_seen_subcommand_from ${takesId(commands).join(' ')}" -a "(holdfast complete-ids 2>/dev/null)"
complete -c holdfast -f -n "__fish_seen_subcommand_from completion" -a "bash zsh fish"
`;
}

function flagsOf(command: CommandSpec): string[] {
  return [...command.options().map(({ long }) => long ?? ''), '--no-color', '--help'].filter(
    (flag) => flag !== '',
  );
}

function takesId(commands: CommandSpec[]): string[] {
  return commands.filter(({ args }) => /^[<[]id[>\]]$/.test(args[0]?.[0] ?? '')).map(({ name }) => name);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
