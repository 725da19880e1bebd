import { z } from 'zod'
import type { Detector } from './contract.ts'
import { contextDetectors } from './detectors/context/index.ts'
import { failureDetectors } from './detectors/failures/index.ts'
import { loopDetectors } from './detectors/loops/index.ts'

/** Every detector, in the order in which they run. */
export const detectors: readonly Detector[] = [
  ...loopDetectors,
  ...failureDetectors,
  ...contextDetectors,
]

/** What a project has set for one detector: whether it runs, and its thresholds. */
export type DetectorSettings = { enabled: boolean; [threshold: string]: unknown }

/** By the name of the detector. */
export type DetectionSettings = { [detector: string]: DetectorSettings }

/**
 * The settings of all detectors: what is left out has its default, what is not known is refused.
 * It is what a project stores, and what the API takes and gives.
 */
export const detectionSettingsSchema = settingsSchemaOf(detectors).meta({ id: 'DetectionSettings' })

/** The settings of some detectors as one schema; names that are not theirs are refused. */
export function settingsSchemaOf(of: readonly Detector[]): z.ZodType<DetectionSettings> {
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
