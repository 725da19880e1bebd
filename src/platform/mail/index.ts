/** Sends plain-text mail. */
export type Mailer = {
  /** Whether a mail server is configured. */
  configured: boolean
  send(mail: { to: string; subject: string; text: string }): Promise<void>
}
