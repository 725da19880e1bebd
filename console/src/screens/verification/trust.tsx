import { formatShare } from '../../ui/format.ts'
import { Meter } from '../../ui/meter.tsx'
import { Badge, type Tone } from '../../ui/parts.tsx'

const tones: Record<string, Tone | undefined> = {
  supported: 'good',
  likely: 'info',
  contradicted: 'bad',
  not_found: 'warn',
  unverifiable: undefined,
  skipped: undefined,
}

/** Signs before a claim, so that colour is not the only one. */
export const signs: Record<string, string> = {
  supported: '✓',
  likely: '≈',
  contradicted: '✗',
  not_found: '?',
  unverifiable: '–',
  skipped: '·',
}

/** The verdict on a claim. */
export function ClaimVerdict({ of }: { of: string }) {
  return (
    <Badge tone={tones[of]}>
      <span aria-hidden="true">{signs[of]}</span> {of.replaceAll('_', ' ')}
    </Badge>
  )
}

/** A trust score with its interval. */
export function Trust({
  score,
  interval,
}: {
  score: number | null
  interval?: readonly number[] | null
}) {
  if (score === null) return 'none'
  const [low, high] = interval ?? []
  const isKnown = low !== undefined && high !== undefined
  return (
    <>
      {score.toFixed(2)} <Meter share={score} {...(interval && { interval })} />
      {isKnown && ` ${formatShare(low)} to ${formatShare(high)}`}
    </>
  )
}
