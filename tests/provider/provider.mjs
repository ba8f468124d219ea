// node provider.mjs LIBRARY REDIRECT_URI PORT: a provider of OpenID Connect. Its login page takes any name with any password.
// The name is the e-mail address; it is not verified when it begins with "unverified", and in the group "admins" when it
// begins with "chief".

const [library, redirectUri, port] = process.argv.slice(2);
const { default: Provider } = await import(library);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "docent", client_secret: "a-secret", redirect_uris: [redirectUri] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: id,
      email_verified: !id.startsWith("unverified"),
      groups: id.startsWith("chief") ? ["admins", "staff"] : ["staff"],
    }),
  }),
});
provider.listen(Number(port), "127.0.0.1");
