/**
 * The calls that the scripted model asks for. Each has a token of its own, which its effect leaves in the
 * world, so that an effect can be counted and found.
 */

/** By what a call does to the world. */
export type CallKind =
  | 'bash'
  | 'bash_last_act'
  | 'job'
  | 'job_status'
  | 'job_output'
  | 'job_stop'
  | 'write'
  | 'read'
  | 'edit'
  | 'patch'
  | 'commit'
  | 'http';

/** A call as it is planned. */
export interface PlannedCall {
  call_id: string;
  /** `tok-SESSION-MESSAGE-CALL-x`: none is the beginning of another. */
  token: string;
  kind: CallKind;
  tool: string;
  /** Made from the results so far, by call_id. */
  args: (results: Record<string, string>) => unknown;
  /** bash, jobs: the exit code if nobody interferes. */
  exit_code?: number;
  /** Relative to the workspace: files that the call leaves its token in, … */
  files: string[];
  /** … and those that it removes. */
  removes?: string[];
  /** job_status, job_output, job_stop: the call that started the job. */
  job_call?: string;
}

/** What surrounds a session's calls. */
export interface CallSurroundings {
  session: number;
  message: number;
  /** Absolute path of the file to which commands append. */
  effectsLog: string;
  /** Takes POST requests. */
  effectsUrl: string;
}

/** The tokens in a text, each as often as it is there. */
export function tokensIn(text: string): string[] {
  return text.match(/tok-\d+-\d+-\d+-x/g) ?? [];
}

/** Makes the calls of one message, numbered in the order in which they are made. */
export class CallMaker {
  readonly #around: CallSurroundings;
  #number = 0;

  constructor(around: CallSurroundings) {
    this.#around = around;
  }

  bash(seconds: number, exit_code: number, lines: number): PlannedCall {
    const body = `sleep ${seconds}; for i in $(seq ${lines}); do echo "line $i of the output"; done`;
    return this.#make('bash', 'bash', (token) => ({
      args: { command: `${this.#begun(token)}; ${body}; ${this.#done(token)}; exit ${exit_code}` },
      exit_code,
    }));
  }

  /** The command's own last act is to kill its runner, so that nothing records how it ended. */
  bashLastAct(seconds: number): PlannedCall {
    return this.#make('bash_last_act', 'bash', (token) => ({
      args: {
        command: `${this.#begun(token)}; sleep ${seconds}; ${this.#done(token)}; kill -9 $PPID && echo "killed ${token}" >> ${this.#log}`,
      },
    }));
  }

  job(seconds: number, exit_code: number): PlannedCall {
    return this.#make('job', 'bash', (token) => ({
      args: {
        command: `${this.#begun(token)}; sleep ${seconds}; ${this.#done(token)}; exit ${exit_code}`,
        background: true,
      },
      exit_code,
    }));
  }

  ofJob(kind: 'job_status' | 'job_output' | 'job_stop', job: PlannedCall): PlannedCall {
    const call = this.#make(kind, kind, () => ({ args: {}, job_call: job.call_id }));
    return { ...call, args: (results) => ({ job_id: jobIdIn(results[job.call_id] ?? '') }) };
  }

  write(path: string): PlannedCall {
    return this.#make('write', 'write_file', (token) => ({
      args: { path, content: `written ${token}\n# end\n` },
      files: [path],
    }));
  }

  read(path: string): PlannedCall {
    return this.#make('read', 'read_file', () => ({ args: { path }, files: [path] }));
  }

  edit(path: string): PlannedCall {
    return this.#make('edit', 'edit_file', (token) => ({
      args: { path, old_text: '# end', new_text: `edited ${token}\n# end` },
      files: [path],
    }));
  }

  /** Updates some files, adds one and, if asked, deletes one. */
  patch(updates: string[], added: string, removes: string[]): PlannedCall {
    return this.#make('patch', 'apply_patch', (token) => {
      const lines = [
        '*** Begin Patch',
        ...updates.flatMap((path) => [`*** Update File: ${path}`, '@@', `+patched ${token}`, ' # end']),
        `*** Add File: ${added}`,
        `+patched ${token}`,
        '+# end',
        ...removes.map((path) => `*** Delete File: ${path}`),
        '*** End Patch',
      ];
      return { args: { patch: lines.join('\n') }, files: [...updates, added], removes };
    });
  }

  commit(paths: string[]): PlannedCall {
    return this.#make('commit', 'git_commit', (token) => ({
      args: { message: `Commit ${token}`, paths },
    }));
  }

  http(wait_ms: number): PlannedCall {
    return this.#make('http', 'http_request', (token) => ({
      args: {
        method: 'POST',
        url: `${this.#around.effectsUrl}/${token}?wait_ms=${wait_ms}`,
        body: `effect ${token}`,
      },
    }));
  }

  #make(
    kind: CallKind,
    tool: string,
    rest: (token: string) => { args: unknown } & Partial<Omit<PlannedCall, 'args'>>,
  ): PlannedCall {
    const { session, message } = this.#around;
    this.#number += 1;
    const token = `tok-${session}-${message}-${this.#number}-x`;
    const { args, ...more } = rest(token);
    const call_id = `call_m${message}_${this.#number}`;
    return { call_id, token, kind, tool, files: [], ...more, args: () => args };
  }

  get #log(): string {
    return `'${this.#around.effectsLog}'`;
  }

  #begun(token: string): string {
    return `echo "start ${token}" >> ${this.#log}; echo "begun ${token}"`;
  }

  #done(token: string): string {
    return `echo "done ${token}" >> ${this.#log}; echo "ended ${token}"`;
  }
}

/** What the result of a job's start names; a word that no job has where the result names none. */
function jobIdIn(result: string): string {
  return /\bjob (r\d+\.s\d+\.\d+)/.exec(result)?.[1] ?? 'r0.s0.0';
}
