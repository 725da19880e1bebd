import type { Fault } from '../../api/problem.ts'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import css from './certification.module.css'
import { type GateDraft, limitFields, metrics } from './policy-draft.ts'

const kinds = [
  ['absolute', 'absolute'],
  ['regression', 'regression'],
  ['zero_tolerance', 'zero tolerance'],
  ['worst_group', 'worst group'],
  ['pass_k', 'pass k'],
] as const
const tiers = [
  ['critical', 'critical'],
  ['supporting', 'supporting'],
  ['advisory', 'advisory: is only reported'],
] as const
const limitTitles = {
  threshold: 'Limit',
  max_drop: 'Maximum drop',
  max_rate: 'Maximum rate',
} as const

/** The fields of one gate. */
export function GateFields({
  at,
  gate,
  faults,
  isLocked,
  onChange,
  onRemove,
}: {
  at: number
  gate: GateDraft
  faults: readonly Fault[]
  isLocked: boolean
  onChange: (gate: GateDraft) => void
  onRemove: () => void
}) {
  const limit = limitFields[gate.kind]
  const field = (name: 'limit' | 'k' | 'groups' | 'min_samples', pointer: string) => ({
    value: gate[name],
    fault: faultAt(faults, `/gates/${at}/${pointer}`),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      onChange({ ...gate, [name]: event.target.value }),
  })
  return (
    <fieldset className={css.gate} disabled={isLocked} aria-label={`Gate ${at + 1}`}>
      <SelectField
        label="Metric"
        value={gate.metric}
        options={metrics.map((name) => [name, name.replaceAll('_', ' ')] as const)}
        fault={faultAt(faults, `/gates/${at}/metric`)}
        onChange={(event) => {
          const metric = metrics.find((each) => each === event.target.value)
          if (metric !== undefined) onChange({ ...gate, metric })
        }}
      />
      <SelectField
        label="Kind"
        value={gate.kind}
        options={kinds}
        fault={faultAt(faults, `/gates/${at}/kind`)}
        onChange={(event) => {
          const kind = kinds.find(([each]) => each === event.target.value)
          if (kind !== undefined) onChange({ ...gate, kind: kind[0] })
        }}
      />
      <TextField label={limitTitles[limit]} inputMode="decimal" {...field('limit', limit)} />
      {gate.kind === 'pass_k' && <TextField label="Repeats" {...field('k', 'k')} />}
      {gate.kind === 'worst_group' && (
        <TextField label="Task names, by comma" {...field('groups', 'groups')} />
      )}
      <SelectField
        label="Tier"
        value={gate.tier}
        options={tiers}
        onChange={(event) => {
          const tier = tiers.find(([each]) => each === event.target.value)
          if (tier !== undefined) onChange({ ...gate, tier: tier[0] })
        }}
      />
      <TextField label="Minimum samples" {...field('min_samples', 'min_samples')} />
      <Button small look="plain" onClick={onRemove} aria-label={`Remove gate ${at + 1}`}>
        Remove
      </Button>
    </fieldset>
  )
}
