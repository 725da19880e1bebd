import { definePage, type Route } from '../../platform/http/index.ts'

/**
 * The pages that links of mails and messages open: invitations, password resets, and answers to
 * incidents. They are static: the token is in the fragment of the link, which the script reads and
 * sends in the body of API calls.
 */
export function linkPages(): Route[] {
  return [
    definePage({
      url: '/invitation',
      id: 'invitationPage',
      summary: 'Page that accepts an invitation',
      file: fileOf('invitation.html'),
    }),
    definePage({
      url: '/reset-password',
      id: 'resetPasswordPage',
      summary: 'Page that sets a new password or requests a link',
      file: fileOf('reset-password.html'),
    }),
    definePage({
      url: '/incident',
      id: 'incidentPage',
      summary: 'Page that acknowledges, resolves or silences an incident',
      file: fileOf('incident.html'),
    }),
    definePage({
      url: '/link-pages/pages.css',
      id: 'linkPagesStyle',
      summary: 'Style of these pages',
      file: fileOf('pages.css'),
    }),
    definePage({
      url: '/link-pages/page.js',
      id: 'linkPagesScript',
      summary: 'Script of these pages',
      file: fileOf('page.js'),
    }),
    definePage({
      url: '/link-pages/account-flows.js',
      id: 'linkPagesAccountFlows',
      summary: 'Steps of the pages of accounts',
      file: fileOf('account-flows.js'),
    }),
    definePage({
      url: '/link-pages/incident-flow.js',
      id: 'linkPagesIncidentFlow',
      summary: 'Steps of the page of an incident',
      file: fileOf('incident-flow.js'),
    }),
    definePage({
      url: '/link-pages/replies.js',
      id: 'linkPagesReplies',
      summary: 'Parts that the steps share',
      file: fileOf('replies.js'),
    }),
  ]
}

function fileOf(name: string): URL {
  return new URL(`./browser/${name}`, import.meta.url)
}
