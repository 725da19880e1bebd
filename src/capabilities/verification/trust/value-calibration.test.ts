import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyCalibration, calibrateValues } from './value-calibration.ts'

const none = { values: 0, unexplained: 0, reviewed: 0, right: 0 }

describe('the shift of a project', () => {
  test.each([
    [{ ...none, reviewed: 40, right: 39 }, 'raise', '39 of 40 reviewed findings were right'],
    [{ ...none, reviewed: 40, right: 8 }, 'lower', '8 of 40 reviewed findings were right'],
    [{ ...none, reviewed: 40, right: 26 }, 'keep', '26 of 40 reviewed findings were right'],
    [none, 'keep', 'too few labels (0 of 20) and values (0 of 500)'],
    [
      { ...none, reviewed: 19, right: 19 },
      'keep',
      'too few labels (19 of 20) and values (0 of 500)',
    ],
    [
      { ...none, values: 1000, unexplained: 4 },
      'raise',
      'too few labels (0 of 20); 4 of 1000 values of recent answers have no source',
    ],
    [
      { ...none, values: 1000, unexplained: 250 },
      'lower',
      'too few labels (0 of 20); 250 of 1000 values of recent answers have no source',
    ],
    [
      { ...none, values: 1000, unexplained: 60 },
      'keep',
      'too few labels (0 of 20); 60 of 1000 values of recent answers have no source',
    ],
  ])('%j: %s', (record, shift, basis) => {
    expect(calibrateValues(record)).toEqual({ shift, basis })
  })

  test('labels win over the rate, and more right ones never lower', () => {
    expect(calibrateValues({ values: 1000, unexplained: 900, reviewed: 40, right: 40 }).shift).toBe(
      'raise',
    )
    const rank = { lower: 0, keep: 1, raise: 2 }
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 300 }), fc.nat(), (reviewed, seed) => {
        const right = seed % reviewed
        const of = (k: number) => rank[calibrateValues({ ...none, reviewed, right: k }).shift]
        expect(of(right + 1)).toBeGreaterThanOrEqual(of(right))
      }),
    )
  })
})

describe('a finding', () => {
  const finding = (severity: string, kind = 'money', reason: string | null = null, found = 9) => ({
    type: 'unsupported_value',
    severity,
    evidence: { values_found: found, values_total: 10, values: [{ kind, severity, reason }] },
  })
  const severityBy = (shift: 'raise' | 'lower' | 'keep', of: ReturnType<typeof finding>) =>
    applyCalibration(of, { shift, basis: 'so' }).severity

  test('is raised where the answer is grounded, and lowered unless it is exact', () => {
    expect(severityBy('raise', finding('low'))).toBe('medium')
    expect(severityBy('raise', finding('low', 'money', 'calculable'))).toBe('low')
    expect(severityBy('raise', finding('low', 'money', null, 4))).toBe('low')
    expect(severityBy('lower', finding('medium'))).toBe('low')
    expect(severityBy('lower', finding('medium', 'id'))).toBe('medium')
    expect(severityBy('keep', finding('medium'))).toBe('medium')
  })

  test('says why, and others stay', () => {
    const told = applyCalibration(finding('low'), { shift: 'keep', basis: 'too few labels' })
    expect(told.evidence).toMatchObject({ calibration: { shift: 'keep', basis: 'too few labels' } })
    const other = { type: 'repeat_call', severity: 'high', evidence: {} }
    expect(applyCalibration(other, { shift: 'lower', basis: '' })).toBe(other)
  })
})
