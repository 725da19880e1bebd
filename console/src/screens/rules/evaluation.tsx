import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { Facts, Time } from '../../ui/parts.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { useNames } from '../incidents/people.ts'

/** How the stored rule is evaluated: when, on what, and what is wrong with it. */
export function Evaluation({ rule }: { rule: IncidentRule }) {
  const nameOf = useNames()
  const { evaluation: of, warnings, effective_tiers = [], left_out_tiers = [] } = rule
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          [
            'Newest slot',
            of.last_slot === null ? 'none yet' : <Time key="slot" at={of.last_slot} />,
          ],
          ['Evaluated', of.evaluated_at && <Time at={of.evaluated_at} />],
          ['Version', `${of.rule_version} of ${rule.version}`],
          ['Groups', formatCount(of.groups)],
          ['Groups above the limit', of.overflow > 0 ? formatCount(of.overflow) : undefined],
          ['Unresolved incidents', formatCount(of.open_incidents)],
          ['Last fired', of.last_opened_at && <Time at={of.last_opened_at} />],
          [
            'Waits for rows',
            of.partial ? `yes, the oldest is ${formatDuration(of.lag_ms)} old` : 'no',
          ],
          ['Skipped', of.gap && <Gap {...of.gap} />],
          ['Last error', of.last_error && <LongText text={of.last_error} />],
          ['Changed by', <Plain key="by">{nameOf(rule.updated_by)}</Plain>],
          ['Changed', <Time key="at" at={rule.updated_at} />],
        ]}
      />
      {warnings.length > 0 && (
        <section className={ui.stack}>
          <h2>Warnings</h2>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      {effective_tiers.length > 0 && (
        <section className={ui.stack}>
          <h2>Tiers</h2>
          <ul>
            {effective_tiers.map(({ factor, long, short, severity }) => (
              <li key={`${factor} ${long}`}>
                {factor} × over {long} and {short}: {severity}
              </li>
            ))}
            {left_out_tiers.map(({ tier, reason }) => (
              <li key={`out ${tier.factor} ${tier.long}`} className={ui.soft}>
                {tier.factor} × over {tier.long} is left out: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Gap({ from, to }: { from: string; to: string }) {
  return (
    <>
      <Time at={from} /> to <Time at={to} />
    </>
  )
}
