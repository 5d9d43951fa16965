/** One thing that the doctor has looked at. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** Where not ok. */
  remedy?: string;
}

/** A check without its name. */
export type Finding = Omit<Check, 'name'>;
