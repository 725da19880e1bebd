import { expect, test } from 'vitest'
import { z } from 'zod'
import { detectors } from '../detectors/index.ts'
import { defaultDetectionSettings, detectionSettingsSchema } from './detector-settings.ts'

test('names and types are unique', () => {
  const names = detectors.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const types = detectors.flatMap((detector) => detector.types)
  expect(new Set(types).size).toBe(types.length)
})

test('every detector is enabled with its defaults if nothing is set', () => {
  const settings = defaultDetectionSettings()
  expect(Object.keys(settings)).toEqual(detectors.map(({ name }) => name))
  expect(settings['repeat_call']).toEqual({
    enabled: true,
    repeats: 3,
    high_repeats: 5,
    polling_warn_repeats: 4,
    polling_loop_repeats: 10,
    polling_gap_ms: 10_000,
  })
})

test('keeps settings, completes defaults, and refuses unknown names', () => {
  const settings = detectionSettingsSchema.parse({ cycle: { enabled: false, laps: 4 } })
  expect(settings['cycle']).toMatchObject({ enabled: false, laps: 4, failing_laps: 2 })
  for (const wrong of [
    { cicle: {} },
    { cycle: { lap: 3 } },
    { cycle: { laps: 1 } },
    { cycle: { laps: '3' } },
  ]) {
    expect(detectionSettingsSchema.safeParse(wrong).success).toBe(false)
  }
})

test('every threshold of a loop has bounds, a description and a source', () => {
  for (const { settings } of detectors.filter(({ kind }) => kind === 'loop')) {
    for (const threshold of Object.values(settings.shape)) {
      const { description = '', ...schema } = z.toJSONSchema(threshold)
      expect(description).toMatch(/Source: /)
      expect(schema).toMatchObject({
        minimum: expect.any(Number),
        maximum: expect.any(Number),
        default: expect.any(Number),
      })
    }
  }
})
