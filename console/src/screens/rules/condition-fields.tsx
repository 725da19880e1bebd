import type { IncidentRuleKind } from '../../api/schema.gen.d.ts'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { EventFields } from './event-fields.tsx'
import { NumberField } from './list-field.tsx'
import type { FieldsProps } from './rule-draft.ts'
import { kindOf, kinds, withKind } from './rule-draft.ts'
import css from './rules.module.css'

/** Signals that a condition compares, with their unit. */
const signals = [
  ['error_rate', 'Share of failed calls (0–1)'],
  ['loop_rate', 'Share of tasks with a loop (0–1)'],
  ['failure_rate', 'Share of tasks with a failure (0–1)'],
  ['unsupported_claim_rate', 'Share of unsupported claims (0–1)'],
  ['feedback_negative_rate', 'Share of negative feedback (0–1)'],
  ['latency_p95', 'Latency, 95th percentile (ms)'],
  ['ttft_p95', 'First token, 95th percentile (ms)'],
  ['cost', 'Cost (US dollars)'],
  ['tokens', 'Tokens'],
  ['loop_count', 'Loops'],
  ['failure_count', 'Failures'],
  ['context_failure_count', 'Context failures'],
  ['ingest_rejected', 'Rejected items'],
  ['ingest_lost', 'Lost items'],
  ['context_health', 'Context health (0–1)'],
  ['trust_score', 'Trust score (0–1)'],
] as const

const rates = signals.slice(0, 5)
/** A baseline has no scores: these have no quiet hour. */
const baselines = signals.slice(0, 14)

/** The condition of a rule: its kind, and the fields of the kind. */
export function ConditionFields(props: FieldsProps) {
  const { draft, faults, onChange } = props
  const kind = kindOf(draft)
  return (
    <fieldset className={css.group}>
      <legend>Fires at</legend>
      <SelectField
        label="Kind"
        options={kinds}
        value={kind}
        onChange={(event) => onChange(withKind(draft, event.target.value as IncidentRuleKind))}
      />
      {kind === 'condition' && <Condition {...props} />}
      {kind === 'burn_rate' && <BurnRate {...props} />}
      {kind === 'baseline' && <Baseline {...props} />}
      {kind === 'event' && <EventFields {...props} />}
      {kind !== 'event' && (
        <TextField
          label="Must be true for"
          placeholder="0s"
          value={draft.for ?? ''}
          onChange={(event) => {
            const { for: _, ...rest } = draft
            onChange(event.target.value === '' ? rest : { ...rest, for: event.target.value })
          }}
          hint="Such as 5m"
          fault={faultAt(faults, '/for')}
        />
      )}
    </fieldset>
  )
}

type Section = Readonly<Record<string, unknown>>

/** Returns the values of a section as texts, and a function that changes some of them. */
function sectionOf({ draft, onChange }: FieldsProps, kind: IncidentRuleKind) {
  const section = (draft[kind] ?? {}) as Section
  return {
    section,
    put: (change: Section) => {
      const entries = Object.entries({ ...section, ...change })
      const known = entries.filter(([, value]) => value !== undefined && value !== '')
      onChange({ ...draft, [kind]: Object.fromEntries(known) })
    },
    textOf: (field: string) => String(section[field] ?? ''),
    numberOf: (field: string) => section[field] as number | undefined,
  }
}

const more = [
  ['absent', 'Rows stopped'],
  ['ingest_lag', 'Backlog of the ingest'],
] as const

const comparisons = [
  ['gt', 'above'],
  ['gte', 'at or above'],
  ['lt', 'below'],
  ['lte', 'at or below'],
] as const

function Condition(props: FieldsProps) {
  const { section, put, textOf, numberOf } = sectionOf(props, 'condition')
  const { faults, draft, onChange } = props
  const signal = textOf('signal')
  const isMeasured = signal !== 'absent' && signal !== 'ingest_lag'
  const choose = (next: string) => {
    const window = textOf('window') || '10m'
    if (next === 'absent') return onChange({ ...draft, condition: { signal: next, window } })
    if (next === 'ingest_lag') {
      return onChange({ ...draft, condition: { signal: next, longer_than: '5m' } })
    }
    const { longer_than: _, per: _per, ...rest } = section
    return put0({ threshold: 1, op: 'gt', ...rest, window, signal: next })
  }
  const put0 = (condition: Section) => onChange({ ...draft, condition: condition as never })
  return (
    <>
      <SelectField
        label="Signal"
        options={[...signals, ...more]}
        value={signal}
        onChange={(event) => choose(event.target.value)}
        fault={faultAt(faults, '/condition/signal')}
      />
      {isMeasured && (
        <div className={css.pair}>
          <SelectField
            label="Is"
            options={comparisons}
            value={textOf('op') || 'gt'}
            onChange={(event) => put({ op: event.target.value })}
          />
          <NumberField
            label="Threshold"
            value={numberOf('threshold')}
            onChange={(threshold) => put({ threshold })}
            fault={faultAt(faults, '/condition/threshold')}
          />
        </div>
      )}
      <div className={css.pair}>
        {signal === 'ingest_lag' ? (
          <TextField
            label="Longer than"
            value={textOf('longer_than')}
            onChange={(event) => put({ longer_than: event.target.value })}
            fault={faultAt(faults, '/condition/longer_than')}
          />
        ) : (
          <TextField
            label={signal === 'absent' ? 'Without rows for' : 'Over'}
            value={textOf('window')}
            onChange={(event) => put({ window: event.target.value })}
            hint="Such as 10m"
            fault={faultAt(faults, '/condition/window')}
          />
        )}
        {isMeasured && (
          <NumberField
            label="Samples at least"
            value={numberOf('min_samples')}
            onChange={(min_samples) => put({ min_samples })}
            fault={faultAt(faults, '/condition/min_samples')}
          />
        )}
        {(signal === 'cost' || signal === 'tokens') && (
          <SelectField
            label="Per"
            options={[
              ['', 'window'],
              ['hour', 'hour'],
              ['task', 'task'],
            ]}
            value={textOf('per')}
            onChange={(event) => put({ per: event.target.value })}
          />
        )}
      </div>
    </>
  )
}

function BurnRate(props: FieldsProps) {
  const { section, put, textOf, numberOf } = sectionOf(props, 'burn_rate')
  const { faults } = props
  return (
    <>
      <SelectField
        label="Share of bad items"
        options={rates}
        value={textOf('signal')}
        onChange={(event) => put({ signal: event.target.value })}
      />
      <div className={css.pair}>
        <NumberField
          label="Objective"
          value={numberOf('objective')}
          onChange={(objective) => put({ objective })}
          hint="Share of good items, such as 0.95"
          fault={faultAt(faults, '/burn_rate/objective')}
        />
        <NumberField
          label="Bad items at least"
          value={numberOf('min_bad')}
          onChange={(min_bad) => put({ min_bad })}
          fault={faultAt(faults, '/burn_rate/min_bad')}
        />
      </div>
      <p>
        {section['preset'] === 'standard'
          ? 'Standard tiers: 14.4 × (1h and 5m), 6 × (6h and 30m), 3 × (1d and 2h), 1 × (3d and 6h).'
          : 'The tiers are in the YAML.'}
      </p>
      {faultAt(faults, '/burn_rate/tiers')}
    </>
  )
}

function Baseline(props: FieldsProps) {
  const { put, textOf, numberOf } = sectionOf(props, 'baseline')
  const { faults } = props
  return (
    <>
      <SelectField
        label="Signal"
        options={baselines}
        value={textOf('signal')}
        onChange={(event) => put({ signal: event.target.value })}
      />
      <div className={css.pair}>
        <NumberField
          label="Times the median"
          value={numberOf('max_ratio')}
          onChange={(max_ratio) => put({ max_ratio })}
          fault={faultAt(faults, '/baseline/max_ratio')}
        />
        <NumberField
          label="And above"
          value={numberOf('floor')}
          onChange={(floor) => put({ floor })}
          fault={faultAt(faults, '/baseline/floor')}
        />
        <NumberField
          label="Samples at least"
          value={numberOf('min_samples')}
          onChange={(min_samples) => put({ min_samples })}
          fault={faultAt(faults, '/baseline/min_samples')}
        />
      </div>
    </>
  )
}
