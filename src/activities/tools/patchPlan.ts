/** From the operations of a patch to the changes of files, with everything checked that can be checked. */
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { FileVersion, ToolOutcome } from '../../domain/tool.ts';
import type { WantedChange } from '../workspace/fileChange.ts';
import { describeMissing } from '../workspace/nearNames.ts';
import { resolveForWriting, type WorkspacePath } from '../workspace/paths.ts';
import { Refusal } from '../workspace/refusal.ts';
import { type LoadedFile, loadFile, lookAt, versionOf } from '../workspace/regularFile.ts';
import { checkVersion } from '../workspace/versions.ts';
import { bytesToString, stringToBytes } from './byteString.ts';
import type { FileOperation } from './patchGrammar.ts';
import { applyHunks } from './patchHunks.ts';
import type { ToolContext } from './tool.ts';
import { takeStart } from './utf8.ts';

/** Operations of one patch. */
export const PATCH_FILES_MAX = 100;

export interface PatchPlan {
  /** In the order in which they are made: what is written before what is deleted. */
  changes: WantedChange[];
  outcome: ToolOutcome;
}

/** What one operation comes to. */
interface Part {
  changes: WantedChange[];
  /** For the outcome. */
  line: string;
  versions: FileVersion[];
}

/** Plans a whole patch. Throws one Refusal that names each operation's problem. */
export async function planPatch(operations: FileOperation[], context: ToolContext): Promise<PatchPlan> {
  if (operations.length > PATCH_FILES_MAX) {
    throw new Refusal(
      `Expected at most ${PATCH_FILES_MAX} files in one patch, found ${operations.length}; nothing was changed. Use several patches.`,
    );
  }
  const parts: Part[] = [];
  const problems: Refusal[] = [];
  for (const operation of operations) {
    try {
      parts.push(await planOperation(operation, context));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problems.push(error);
    }
  }
  if (problems.length > 0) throw together(problems);
  const changes = parts.flatMap((part) => part.changes);
  requireApart(parts);
  const output = `${changes.length === 0 ? 'Nothing differs; no file was changed.' : 'Done:'}\n${parts.map(({ line }) => line).join('\n')}`;
  return {
    changes: [
      ...changes.filter(({ after }) => after !== null),
      ...changes.filter(({ after }) => after === null),
    ],
    outcome: {
      status: 'success',
      output: bounded(output),
      versions: parts.flatMap(({ versions }) => versions),
    },
  };
}

function planOperation(operation: FileOperation, context: ToolContext): Promise<Part> {
  switch (operation.kind) {
    case 'add':
      return planAdd(operation, context);
    case 'delete':
      return planDelete(operation, context);
    case 'update':
      return planUpdate(operation, context);
    default:
      return operation satisfies never;
  }
}

async function planAdd(
  { path: given, content: text }: FileOperation & { kind: 'add' },
  context: ToolContext,
): Promise<Part> {
  const path = await requireFree(given, context, 'Change it with *** Update File.');
  const content = Buffer.from(text);
  const after = versionOf(content);
  return {
    changes: [{ path, before: null, after, content, like: null }],
    line: `A ${path.relative} (version ${after})`,
    versions: [{ path: path.relative, version: after }],
  };
}

async function planDelete(
  { path: given }: FileOperation & { kind: 'delete' },
  context: ToolContext,
): Promise<Part> {
  const { path, version: before } = await requireSeen(given, context);
  return {
    changes: [{ path, before, after: null, content: null, like: null }],
    line: `D ${path.relative}`,
    versions: [{ path: path.relative, version: null }],
  };
}

async function planUpdate(
  { path: given, move_to, hunks }: FileOperation & { kind: 'update' },
  context: ToolContext,
): Promise<Part> {
  const { path, ...file } = await requireSeen(given, context);
  const content = stringToBytes(applyHunks(bytesToString(file.bytes), hunks, path.relative));
  const after = versionOf(content);
  const written = { before: file.version, after, content, like: file.stats };
  if (move_to !== null) {
    const target = await requireFree(move_to, context, 'Delete it first, or choose another name.');
    return {
      changes: [
        { ...written, path: target, before: null },
        { path, before: file.version, after: null, content: null, like: null },
      ],
      line: `M ${path.relative} -> ${target.relative} (version ${after})`,
      versions: [
        { path: path.relative, version: null },
        { path: target.relative, version: after },
      ],
    };
  }
  const versions = [{ path: path.relative, version: after }];
  if (after === file.version) return { changes: [], line: `= ${path.relative} (unchanged)`, versions };
  return { changes: [{ ...written, path }], line: `M ${path.relative} (version ${after})`, versions };
}

/** A file that is there, and that the session knows as it is. */
async function requireSeen(
  given: string,
  context: ToolContext,
): Promise<LoadedFile & { path: WorkspacePath }> {
  const path = await resolveForWriting(context.workspace, given);
  const file = await loadFile(path);
  checkVersion({ path, now: file?.version ?? null, seen: context.seenVersion(path.relative) });
  if (file) return { ...file, path };
  const gone = [{ path: path.relative, version: null }];
  throw new Refusal(await describeMissing(context.workspace, path), gone);
}

/** A path where no file is. */
async function requireFree(given: string, context: ToolContext, remedy: string): Promise<WorkspacePath> {
  const path = await resolveForWriting(context.workspace, given);
  if (await lookAt(path)) throw new Refusal(`Expected no file at ${path.relative}, found one. ${remedy}`);
  checkVersion({ path, now: null, seen: context.seenVersion(path.relative) });
  return path;
}

/** No file twice, and none that is a folder of another: the order of changes would decide. */
function requireApart(parts: Part[]): void {
  const paths = parts.flatMap(({ versions }) => versions.map(({ path }) => path));
  const seen = new Set<string>();
  for (const path of paths) {
    if (seen.has(path)) {
      throw new Refusal(
        `Expected each file once in a patch, found ${path} twice; nothing was changed. ` +
          `Put all of its hunks below one *** Update File.`,
      );
    }
    seen.add(path);
  }
  const below = paths.find((path) =>
    path.split('/').some((_, depth, names) => depth > 0 && seen.has(names.slice(0, depth).join('/'))),
  );
  if (below !== undefined) {
    throw new Refusal(
      `The patch uses a part of ${below} both as a file and as a folder; nothing was changed. Use two patches.`,
    );
  }
}

function together(problems: Refusal[]): Refusal {
  const text = problems.map(({ message }) => message).join('\n');
  const versions = problems.flatMap(({ outcome }) => outcome.versions ?? []);
  return new Refusal(
    bounded(`${text}\nNothing of the patch was applied.`),
    versions.length > 0 ? versions : undefined,
  );
}

function bounded(text: string): string {
  return takeStart(Buffer.from(text), 0, OUTPUT_MAX_BYTES).text;
}
