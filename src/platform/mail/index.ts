export { type Mailer, MailFailed, openMailer, SmtpUrlRefused } from './mailer.ts'
