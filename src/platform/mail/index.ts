export { type Mail, type Mailer, MailFailed, openMailer, SmtpUrlRefused } from './mailer.ts'
