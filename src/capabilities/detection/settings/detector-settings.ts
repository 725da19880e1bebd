import { z } from 'zod'
import type { Detector } from '../contract.ts'
import { detectors } from '../detectors/index.ts'
import type { DetectionDb } from '../ports.ts'
import { findSettings, type SettingsChoice } from './stored-settings.ts'

/** What a project has set for one detector: whether it runs, and its thresholds. */
export type DetectorSettings = { enabled: boolean; [threshold: string]: unknown }

/** By the name of the detector. */
export type DetectionSettings = { [detector: string]: DetectorSettings }

/**
 * The settings of all detectors: what is left out has its default, what is not known is refused.
 * It is what a project stores, and what the API takes and gives.
 */
export const detectionSettingsSchema = createSettingsSchema(detectors).meta({
  id: 'DetectionSettings',
})

/** The settings of some detectors as one schema; names that are not theirs are refused. */
export function createSettingsSchema(of: readonly Detector[]): z.ZodType<DetectionSettings> {
  const shape: Record<string, z.ZodType> = {}
  for (const detector of of) {
    const id = `${pascalCase(detector.name)}Settings`
    shape[detector.name] = settingsObject(detector).meta({ id }).prefault({})
  }
  return z.strictObject(shape) as unknown as z.ZodType<DetectionSettings>
}

/** The settings of one detector: `enabled` and its thresholds. */
export function detectorSettingsSchema(detector: Detector): z.ZodType {
  return settingsObject(detector).prefault({})
}

function settingsObject({ name, settings }: Detector) {
  const enabled = z.boolean().default(true).describe(`Whether ${name} looks at runs at all.`)
  return z.strictObject({ enabled, ...settings.shape })
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** What holds where a project has set nothing. */
export function defaultDetectionSettings(): DetectionSettings {
  return detectionSettingsSchema.parse({})
}

/** The thresholds that hold in a project. */
export type EffectiveSettings = {
  /** 0 while the defaults hold. */
  version: number
  settings: DetectionSettings
}

/** The settings of a project. */
export async function findEffectiveSettings(
  db: DetectionDb,
  project_id: string,
): Promise<EffectiveSettings> {
  const stored = await findSettings(db, project_id)
  return { version: stored?.version ?? 0, settings: completeSettings(stored?.detectors ?? {}) }
}

/**
 * A choice with the defaults for all that it leaves out. A choice that this version of a detector
 * does not take any more is its default: what was right once must not stop detection.
 */
export function completeSettings(choice: SettingsChoice): DetectionSettings {
  const known = detectors.map((detector) => {
    const schema = detectorSettingsSchema(detector)
    const parsed = schema.safeParse(choice[detector.name] ?? {})
    return [detector.name, parsed.success ? parsed.data : schema.parse({})] as const
  })
  return Object.fromEntries(known) as DetectionSettings
}

/** What of the settings is not the default: all that has to be stored. */
export function toChoice(settings: DetectionSettings): SettingsChoice {
  const defaults = completeSettings({})
  const choice: Record<string, Record<string, unknown>> = {}
  for (const [name, chosen] of Object.entries(settings)) {
    const own = Object.entries(chosen).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name]?.[key]),
    )
    if (own.length > 0) choice[name] = Object.fromEntries(own)
  }
  return choice
}

/** What findings of the judge are stored under; raise `version` when it is asked something else. */
export const judgeDetector = { name: 'judge', version: 1 } as const

/** The judge only adds to `lost_context`: where that is switched off, it is not asked. */
export const judgedDetector = 'lost_context'

/** Whether a project wants none of what the judge finds. */
export function isJudgeOff(settings: DetectionSettings): boolean {
  return settings[judgedDetector]?.enabled === false
}
