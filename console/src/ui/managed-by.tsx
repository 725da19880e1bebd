import type { ManagedBy as Owner } from '../api/schema.gen.d.ts'
import { classes } from './parts.tsx'
import { Plain } from './text.tsx'
import css from './ui.module.css'

/** Says that a Kubernetes resource owns the thing, so that it cannot be changed here. */
export function ManagedBy({ by }: { by: Owner | null | undefined }) {
  if (by === null || by === undefined) return null
  return (
    <p className={classes(css.notice)}>
      <span>
        Managed by{' '}
        <code>
          <Plain>{`${by.kind}/${by.namespace}/${by.name}`}</Plain>
        </code>
        . Change that resource: a change made here would be refused.
      </span>
    </p>
  )
}
