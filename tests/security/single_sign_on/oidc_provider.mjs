// A real OpenID Connect provider on loopback: the certified `oidc-provider`, with accounts that the tests set.
// Usage: node oidc_provider.mjs PORT REDIRECT_ORIGIN LOGOUT_ADDRESS. Prints "ready" when it listens.
import http from 'node:http';
import { Provider } from 'oidc-provider';

const [port, origin, logoutAddress] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
/** @type {Record<string, Record<string, unknown>>} */
const accounts = {};

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'annotator',
      client_secret: 'a-secret-of-the-client',
      redirect_uris: [`${origin}/oidc/callback`],
      post_logout_redirect_uris: [`${origin}/login`],
      backchannel_logout_uri: logoutAddress,
      backchannel_logout_session_required: true,
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub', 'sid'], profile: ['name', 'preferred_username', 'groups'] },
  cookies: { keys: ['for the tests only'] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true }, backchannelLogout: { enabled: true } },
  // it sends nothing to loopback, nor waits for long, unless told to
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined, signal: undefined }),
  findAccount: async (_context, sub) => ({
    accountId: sub,
    claims: async () => ({ sub, ...accounts[sub] }),
  }),
});

process.stdin.resume().on('end', () => process.exit()); // whoever started it has ended

const handle = provider.callback();
http
  .createServer((request, response) => {
    if (request.method === 'PUT' && request.url?.startsWith('/accounts/')) {
      const sub = request.url.slice('/accounts/'.length);
      let body = '';
      request.on('data', (part) => (body += part));
      request.on('end', () => {
        accounts[sub] = JSON.parse(body);
        response.end();
      });
      return;
    }
    handle(request, response);
  })
  .listen(Number(port), '127.0.0.1', () => console.log('ready'));
