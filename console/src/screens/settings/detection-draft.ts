/** Settings of one detector: its switch, thresholds, and for one of them a table of windows. */
export type DetectorValues = Readonly<
  Record<string, boolean | number | Readonly<Record<string, number>>>
>
export type Detectors = Readonly<Record<string, DetectorValues>>

/** Returns what differs, as `detector.setting`, in order. */
export function changedSettings(before: Detectors, after: Detectors): string[] {
  return Object.entries(after).flatMap(([detector, values]) =>
    Object.entries(values)
      .filter(([name, value]) => !isSame(before[detector]?.[name], value))
      .map(([name]) => `${detector}.${name}`),
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
