import css from './meter.module.css'

/** A share of 0 to 1 as a small bar, with its interval as a line. Write the number beside it. */
export function Meter({ share, interval }: { share: number; interval?: readonly number[] | null }) {
  const [low, high] = interval ?? []
  return (
    <span className={css.meter} aria-hidden="true">
      <span className={css.fill} style={{ width: `${clamp(share) * 100}%` }} />
      {low !== undefined && high !== undefined && (
        <span
          className={css.range}
          style={{ left: `${clamp(low) * 100}%`, width: `${(clamp(high) - clamp(low)) * 100}%` }}
        />
      )}
    </span>
  )
}

function clamp(share: number): number {
  return Math.min(Math.max(share, 0), 1)
}
