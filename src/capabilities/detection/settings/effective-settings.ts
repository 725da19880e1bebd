import type { DetectionDb } from '../detection-deps.ts'
import { type DetectionSettings, detectorSettingsSchema, detectors } from '../registry.ts'
import { findSettings, type SettingsChoice } from './stored-settings.ts'

/** The thresholds that hold in a project. */
export type EffectiveSettings = {
  /** 0 while the defaults hold. */
  version: number
  settings: DetectionSettings
}

/** The settings of a project. */
export async function effectiveSettings(
  db: DetectionDb,
  project_id: string,
): Promise<EffectiveSettings> {
  const stored = await findSettings(db, project_id)
  return { version: stored?.version ?? 0, settings: settingsOf(stored?.detectors ?? {}) }
}

/**
 * A choice with the defaults for all that it leaves out. A choice that this version of a detector
 * does not take any more is its default: what was right once must not stop detection.
 */
export function settingsOf(choice: SettingsChoice): DetectionSettings {
  const known = detectors.map((detector) => {
    const schema = detectorSettingsSchema(detector)
    const parsed = schema.safeParse(choice[detector.name] ?? {})
    return [detector.name, parsed.success ? parsed.data : schema.parse({})] as const
  })
  return Object.fromEntries(known) as DetectionSettings
}

/** What of the settings is not the default: all that has to be stored. */
export function choiceOf(settings: DetectionSettings): SettingsChoice {
  const defaults = settingsOf({})
  const choice: Record<string, Record<string, unknown>> = {}
  for (const [name, chosen] of Object.entries(settings)) {
    const own = Object.entries(chosen).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name]?.[key]),
    )
    if (own.length > 0) choice[name] = Object.fromEntries(own)
  }
  return choice
}
