import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import css from './dialog.module.css'
import { Button } from './parts.tsx'

/** A dialog over the page. Escape and a click outside close it; the focus returns. */
export function Dialog({
  title,
  open,
  onClose,
  children,
  wide,
}: {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
  wide?: boolean
}) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css.backdrop} />
        <Base.Popup className={wide === true ? css.wide : css.popup}>
          <div className={css.head}>
            <Base.Title className={css.title}>{title}</Base.Title>
            <Base.Close render={<Button small look="plain" aria-label="Close" />}>×</Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** A question before something that cannot be undone. `children` say what will happen. */
export function Confirm({
  title,
  action,
  open,
  onClose,
  onConfirm,
  isRunning,
  children,
}: {
  title: string
  /** The verb of the button: "Delete the rule". */
  action: string
  open: boolean
  onClose: () => void
  onConfirm: () => void
  isRunning?: boolean
  children: ReactNode
}) {
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <div className={css.text}>{children}</div>
      <div className={css.actions}>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" onClick={onConfirm} disabled={isRunning === true}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
