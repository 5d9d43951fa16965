export function contextWindow(settings: { model: string; context_window?: number }): number {
  return settings.context_window ?? 128_000;
}
