import { z } from 'zod'
import type { DetectionTables, Selectable } from '../../../platform/relational/index.ts'
import { ProjectTable } from '../../documents/index.ts'
import type { Detector } from '../contract.ts'
import { detectors } from '../detectors/index.ts'
import type { DetectionDb } from '../ports.ts'

/** A project's settings of one detector: whether it is enabled, and its thresholds. */
type DetectorSettings = { enabled: boolean; [threshold: string]: unknown }

/** Settings by name of the detector. */
export type DetectionSettings = { [detector: string]: DetectorSettings }

/**
 * Schema of the settings of all detectors, as stored and as in the API. Omitted settings have their
 * default; unknown ones are refused.
 */
export const detectionSettingsSchema = createSettingsSchema(detectors).meta({
  id: 'DetectionSettings',
})

/** Creates the settings schema of some detectors; names of other detectors are refused. */
export function createSettingsSchema(of: readonly Detector[]): z.ZodType<DetectionSettings> {
  const shape: Record<string, z.ZodType> = {}
  for (const detector of of) {
    const id = `${pascalCase(detector.name)}Settings`
    shape[detector.name] = settingsObject(detector).meta({ id }).prefault({})
  }
  return z.strictObject(shape) as unknown as z.ZodType<DetectionSettings>
}

/** Returns the settings schema of one detector: `enabled` and its thresholds. */
function detectorSettingsSchema(detector: Detector): z.ZodType {
  return settingsObject(detector).prefault({})
}

function settingsObject({ name, settings }: Detector) {
  const enabled = z.boolean().default(true).describe(`Whether ${name} is enabled.`)
  return z.strictObject({ enabled, ...settings.shape })
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** Returns the settings of a project that has set nothing. */
export function defaultDetectionSettings(): DetectionSettings {
  return detectionSettingsSchema.parse({})
}

/** The settings in effect in a project. */
export type EffectiveSettings = {
  /** 0 while the project has set nothing. */
  version: number
  settings: DetectionSettings
}

/** Returns the settings in effect in a project. */
export async function findEffectiveSettings(
  db: DetectionDb,
  project_id: string,
): Promise<EffectiveSettings> {
  const { version, detectors: choice } = await settingsTable.read(db, project_id)
  return { version, settings: completeSettings(choice) }
}

/**
 * Completes a choice with defaults. A choice that the current version of a detector refuses is
 * replaced by the default, so that it cannot stop detection.
 */
export function completeSettings(choice: SettingsChoice): DetectionSettings {
  const known = detectors.map((detector) => {
    const schema = detectorSettingsSchema(detector)
    const parsed = schema.safeParse(choice[detector.name] ?? {})
    return [detector.name, parsed.success ? parsed.data : schema.parse({})] as const
  })
  return Object.fromEntries(known) as DetectionSettings
}

/** Returns the settings that differ from the defaults, which are the only ones stored. */
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

/** Detector name of the judge's findings; increment `version` when the question changes. */
export const judgeDetector = { name: 'judge', version: 1 } as const

/** Detector name of the findings of verifications. Analyses leave these findings as they are. */
export const verificationDetector = { name: 'verification', version: 1 } as const

/** The judge adds only findings of this type, and is off when this detector is disabled. */
export const judgedDetector = 'lost_context'

/** Tells whether a project has switched the judge off. */
export function isJudgeOff(settings: DetectionSettings): boolean {
  return settings[judgedDetector]?.enabled === false
}

/** A project's settings by detector, without defaults. */
type SettingsChoice = {
  readonly [detector: string]: { readonly [setting: string]: unknown }
}

/** A project's stored settings. */
type StoredSettings = Selectable<DetectionTables['detection_settings']>

/** The table of settings. */
export const settingsTable = new ProjectTable<StoredSettings>('detection_settings', {
  json: ['detectors'],
  defaults: { detectors: {} },
})
