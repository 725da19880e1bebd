import type { ComponentProps, ReactNode } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { useZone } from '../browser/zone.ts'
import { formatAgo, formatInstant, formatShortInstant } from './format.ts'
import css from './ui.module.css'

/** Joins class names, without those that are absent. */
export function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}

type Look = 'primary' | 'danger' | 'plain'

/** A button. `small` fits into a row of a table. */
export function Button({
  look,
  small,
  className,
  ...rest
}: ComponentProps<'button'> & { look?: Look | undefined; small?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      className={classes(css.button, look && css[look], small && css.small, className)}
    />
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'info'

/** A short word in a coloured pill. The word alone must say it, without the colour. */
export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return <span className={classes(css.badge, tone && css[tone])}>{children}</span>
}

const severityTones: Record<string, Tone | undefined> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'info',
  info: undefined,
}

/** The severity of a finding or incident. */
export function Severity({ of }: { of: string }) {
  return <Badge tone={severityTones[of]}>{of}</Badge>
}

const stateTones: Record<string, Tone | undefined> = {
  completed: 'good',
  succeeded: 'good',
  resolved: 'good',
  verified: 'good',
  active: 'good',
  ok: 'good',
  failed: 'bad',
  error: 'bad',
  open: 'bad',
  acknowledged: 'warn',
  cancelled: 'warn',
  running: 'info',
  pending: 'info',
  queued: 'info',
}

/** The state of a task, run, incident or other thing that moves. */
export function State({ of }: { of: string }) {
  return <Badge tone={stateTones[of]}>{of.replaceAll('_', ' ')}</Badge>
}

/** An instant, short; the whole one is in its title. */
export function Time({ at, ago }: { at: string; ago?: boolean }) {
  const zone = useZone()
  const now_ms = serverNow()
  return (
    <time dateTime={at} title={formatInstant(at, zone)}>
      {ago === true ? formatAgo(at, now_ms) : formatShortInstant(at, zone, now_ms)}
    </time>
  )
}

/** Names and values in two columns. Entries whose value is null or undefined are left out. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }) {
  const known = of.filter(([, value]) => value !== null && value !== undefined)
  return (
    <dl className={css.facts}>
      {known.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A number with its name, for the head of a screen. */
export function Tile({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.tile}>
      <span className={css.soft}>{name}</span>
      <strong>{children}</strong>
    </div>
  )
}

/** The title of a screen, with its actions on the right. */
export function Heading({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className={css.row}>
      <h1 className={css.grow}>{title}</h1>
      {children}
    </div>
  )
}
