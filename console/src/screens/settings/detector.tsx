import type { Fault } from '../../api/problem.ts'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Badge } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import type { DetectorValues } from './detection-draft.ts'

/** The switch and the thresholds of one detector. */
export function Detector({
  name,
  values,
  before,
  isDisabled,
  faults,
  onChange,
}: {
  name: string
  values: DetectorValues
  before: DetectorValues
  isDisabled: boolean
  faults: readonly Fault[]
  onChange: (values: DetectorValues) => void
}) {
  const isChanged = JSON.stringify(values) !== JSON.stringify(before)
  const fields = Object.entries(values).filter(([field]) => field !== 'enabled')
  return (
    <details open={isChanged || undefined}>
      <summary>
        {name.replaceAll('_', ' ')}{' '}
        {values['enabled'] === true ? <Badge tone="good">on</Badge> : <Badge>off</Badge>}{' '}
        {isChanged && <Badge tone="info">changed</Badge>}
      </summary>
      <div className={ui.row} style={{ padding: '8px 16px', alignItems: 'end' }}>
        <CheckField
          label="On"
          aria-label={`${name} is on`}
          checked={values['enabled'] === true}
          disabled={isDisabled}
          onChange={({ target }) => onChange({ ...values, enabled: target.checked })}
        />
        {fields.map(([field, value]) => {
          const label = field.replaceAll('_', ' ')
          const fault = faultAt(faults, `/detectors/${name}/${field}`)
          if (typeof value === 'boolean') {
            return (
              <CheckField
                key={field}
                label={label}
                checked={value}
                disabled={isDisabled}
                onChange={({ target }) => onChange({ ...values, [field]: target.checked })}
              />
            )
          }
          if (typeof value !== 'number') return <Windows key={field} of={value} />
          return (
            <TextField
              key={field}
              label={label}
              type="number"
              step="any"
              style={{ width: 130 }}
              value={Number.isNaN(value) ? '' : value}
              disabled={isDisabled}
              fault={fault}
              onChange={({ target }) => onChange({ ...values, [field]: target.valueAsNumber })}
            />
          )
        })}
      </div>
    </details>
  )
}

/** Context windows by prefix of a model's name, which only the API changes. */
function Windows({ of }: { of: Readonly<Record<string, number>> }) {
  const windows = Object.entries(of).map(([model, tokens]) => `${model}: ${tokens}`)
  return (
    <p className={ui.soft}>
      Context windows of your own: {windows.join(', ') || 'none'}. Set them with{' '}
      <code>PUT /api/v1/detection/settings</code>.
    </p>
  )
}
