export { type Mail, type Mailer, MailFailed, openMailer } from './mailer.ts'
export { SmtpUrlRefused } from './smtp-url.ts'
