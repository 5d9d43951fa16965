/**
 * Every limit of the session machine, with its unit in its name. What the model and the user are told is
 * built from these, so that the words and the enforcement can't differ.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** A user message. Larger things belong in a file of the workspace. */
export const MESSAGE_MAX_BYTES = 128 * KIB;
/** A tool result's text for the model: head and tail of the whole output. */
export const OUTPUT_MAX_BYTES = 16 * KIB;
/** The text of one model reply that is recorded. */
export const REPLY_MAX_BYTES = 512 * KIB;
/** The arguments of one tool call. */
export const ARGUMENTS_MAX_BYTES = 512 * KIB;
/** Tool calls of one reply that are taken; the rest is dropped, which the reply's notes say. */
export const CALLS_PER_REPLY_MAX = 64;
/** Evidence about an uncertain operation. */
export const EVIDENCE_MAX_BYTES = 4 * KIB;
/** All AGENTS.md files together. */
export const INSTRUCTIONS_MAX_BYTES = 32 * KIB;
/** AGENTS.md files that are read; the farthest are left out. */
export const INSTRUCTION_FILES_MAX = 32;
/** Skills that the model is told of. */
export const SKILLS_MAX = 64;
/** Of a skill's name and of its description. */
export const SKILL_DESCRIPTION_MAX_CHARS = 400;
/** Files of a project that are named because they could not be used. */
export const PROJECT_PROBLEMS_MAX = 16;
/** Changed files of a project that the model is told by name. */
export const PROJECT_CHANGES_TOLD = 16;
/** A session's title, in characters. */
export const TITLE_MAX_CHARS = 80;

/** Events of one page of a query: far below Temporal's 2 MiB for a query result. */
export const PAGE_MAX_BYTES = 1 * MIB;
/** Events that continue-as-new carries beside the state: together below Temporal's 2 MiB for an input. */
export const CARRIED_EVENTS_MAX_BYTES = 256 * KIB;
/** Continue-as-new at this many history events, … */
export const ROLL_OVER_HISTORY_EVENTS = 2_000;
/** … or at this much history, … */
export const ROLL_OVER_HISTORY_BYTES = 2 * MIB;
/** … or at this many signals (the server refuses the 10,001st of a Temporal run). */
export const ROLL_OVER_SIGNALS = 8_000;

/** After this long without a worker of the workspace's host the session says `host_unreachable`. */
export const HOST_PATIENCE_MS = 60_000;

/** A message's id; newMessageId (client/ids.ts) makes shorter ones. */
export const MESSAGE_ID_MAX_CHARS = 200;
/** Message ids remembered for deduplication; a repeat later than this many messages is a new message. */
export const MESSAGE_IDS_KEPT = 2_000;
/** Call ids remembered so that a repeated id of a model gets one of ours. */
export const CALL_IDS_KEPT = 2_000;
/** Files whose last seen version is remembered. */
export const FILE_VERSIONS_KEPT = 1_000;
/** All their paths together; the versions seen longest ago leave first. */
export const FILE_VERSIONS_PATHS_MAX_CHARS = 128 * KIB;
/** Runs that the session itself lists; older ones are in the events. */
export const RUNS_KEPT = 50;
/** Uncertain operations that the session lists; the oldest leave first. */
export const UNCERTAIN_KEPT = 100;
/** Recoveries in a row without a finished step that end a run as a crash loop. */
export const CRASH_BUDGET_RECOVERIES = 5;

/** The context is summarised at this share of the model's window, before a call that would be larger. */
export const COMPACT_AT_SHARE = 0.8;
/** What is kept word for word after a summary: the last steps up to this share of the window, … */
export const KEEP_RECENT_SHARE = 0.2;
/** … and at most this many tokens. */
export const KEEP_RECENT_MAX_TOKENS = 20_000;
/** A summary's text. */
export const SUMMARY_MAX_BYTES = 32 * KIB;
/** The user's own words that a summary keeps beside it; the oldest leave first. */
export const SUMMARY_MESSAGES_MAX_BYTES = 16 * KIB;
/** Summaries in a row, without a reply of the model between them, that end a run. */
export const COMPACTIONS_IN_A_ROW_MAX = 32;

/** What a goal is to reach. Longer things belong in a file of the workspace. */
export const GOAL_OBJECTIVE_MAX_CHARS = 4_000;
/** The last word on a goal. */
export const GOAL_NOTE_MAX_CHARS = 2_000;
/** Steps of a plan, … */
export const PLAN_STEPS_MAX = 100;
/** … the characters of one, … */
export const PLAN_STEP_MAX_CHARS = 1_000;
/** … and the whole of it. */
export const PLAN_MAX_BYTES = 32 * KIB;
/**
 * How long a goal rests after one, two, and more runs in a row that changed neither a file nor the plan. With
 * these at most five runs begin in any hour: at 0, 3, 15, 30 and 45 minutes.
 */
export const GOAL_BACK_OFF_SECONDS = [3 * 60, 12 * 60, 15 * 60] as const;
/** Between two runs that get on. */
export const GOAL_PAUSE_SECONDS = 1;
/** The longest that a model may ask to wait; it is asked again then. */
export const GOAL_WAIT_MAX_SECONDS = 15 * 60;
/** Runs in a row that changed nothing, after which a goal is blocked. */
export const GOAL_STALLED_RUNS_MAX = 3;
/** Runs in a row that changed the plan alone and count as getting on; more of them are idle. */
export const GOAL_PLANNED_RUNS_MAX = 3;
/** Steps in a row of one run of a goal that changed nothing, after which it is ended. */
export const GOAL_QUIET_STEPS_MAX = 50;
/** Steps in a row that made only calls that the run had made before, after which it is ended. */
export const GOAL_REPEATED_STEPS_MAX = 3;
/** Things that a goal remembers having seen; the oldest are forgotten. */
export const GOAL_SEEN_KEPT = 500;
