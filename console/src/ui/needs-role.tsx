import ui from './ui.module.css'

/** Says why a part of the screen cannot be read or changed. */
export function NeedsRole({ what, needs }: { what: string; needs: string }) {
  return (
    <p className={ui.notice}>
      {what} needs the role {needs}. Ask an administrator of the project for it.
    </p>
  )
}
