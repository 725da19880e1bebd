import { Copy } from './copy.tsx'
import { classes } from './parts.tsx'
import css from './ui.module.css'

/** A secret that the server shows once, such as a key or a link of an invitation. */
export function ShownOnce({ title, secret }: { title: string; secret: string }) {
  return (
    <div className={classes(css.notice)} role="status">
      <div className={css.grow}>
        <strong>{title}</strong>
        <p>
          <code className={css.text}>{secret}</code>
        </p>
        <p className={css.soft}>Copy it now. It is not shown again.</p>
      </div>
      <Copy text={() => secret}>Copy</Copy>
    </div>
  )
}
