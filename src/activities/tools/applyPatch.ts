/** apply_patch: several files at once, all or nothing. patchGrammar.ts has the language. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { reconcileWrites } from '../workspace/reconcileWrites.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { writeChanges } from '../workspace/writeChanges.ts';
import { type FileOperation, parsePatch, PatchSyntaxError, pathsNamed } from './patchGrammar.ts';
import { PATCH_FILES_MAX, planPatch } from './patchPlan.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { encodingProblem, targetLine } from './wording.ts';

const NAME = 'apply_patch';

const schema = z.strictObject({
  patch: z.string().describe('From *** Begin Patch to *** End Patch.'),
});
type Args = z.infer<typeof schema>;

export const applyPatch = defineTool<Args>({
  name: NAME,
  description: `Changes up to ${PATCH_FILES_MAX} files by one patch: all of it or nothing. The form:
*** Begin Patch
*** Update File: src/a.ts
@@ function greet() {
   const name = 'you';
-  return 'Hi';
+  return 'Hello';
*** Add File: src/new.ts
+all lines begin with +
*** Delete File: src/old.ts
*** End Patch
After Update File, a line "*** Move to: new/path" renames. A hunk begins with @@, which may name an earlier line of the file, such as the function's first; then come lines with a space (stay), - (go) and + (come). Lines with a space or - must be in the file exactly as given, at one place only (below the @@ line): give about 3 lines around each change, and an @@ line where these occur again. *** End of File after a hunk puts it at the file's end. Line ends are the file's. Files that are updated, moved or deleted must have been read before (else READ_FIRST) and be unchanged since (else FILE_CHANGED).`,
  schema,
  effect: () => 'side_effect',
  target: ({ patch }) => targetLine(pathsNamed(patch).join(', ')),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: (_args, context) => reconcileWrites(context),
});

async function run({ patch }: Args, context: ToolContext): Promise<ToolOutcome> {
  const problem = encodingProblem('patch', patch);
  if (problem) throw new Refusal(problem);
  const { changes, outcome } = await planPatch(parse(patch), context);
  return changes.length === 0 ? outcome : writeChanges(NAME, changes, outcome, context);
}

function parse(patch: string): FileOperation[] {
  try {
    return parsePatch(patch);
  } catch (error) {
    if (error instanceof PatchSyntaxError) throw new Refusal(`${error.message} Nothing was changed.`);
    throw error;
  }
}
