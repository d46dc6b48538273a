/** The login by the company's account, and the people who use it. */
export const LOGIN_EN = {
  'Entrar com a conta da empresa': 'Log in with the company account',
  'Ou com um token': 'Or with a token',
  'A conta da empresa não autorizou a entrada. Tente de novo, ou entre com um token.':
    'The company account did not allow the login. Try again, or log in with a token.',
  'A resposta da conta da empresa não vale para este login: pode ter expirado ou já ter sido usada. Comece de novo.':
    'The answer of the company account is not valid for this login: it may have expired or have been used. Begin again.',
  'Este login não começou neste navegador, ou demorou mais de dez minutos. Comece de novo.':
    'This login did not begin in this browser, or took more than ten minutes. Begin again.',
  'A conta da empresa não está disponível agora: o emissor não respondeu. Tokens funcionam; tente de novo em um minuto.':
    'The company account is not available now: the issuer did not answer. Tokens work; try again in a minute.',
  'A conta da empresa não está disponível: a configuração do Confere não serve ao emissor. Avise quem opera; tokens funcionam.':
    'The company account is not available: the configuration of Confere does not suit the issuer. Inform the operators; tokens work.',
  Entrando: 'Logging in',
  Continuar: 'Continue',
  'Você saiu do Confere': 'You are logged out of Confere',
  'Sair também da conta da empresa': 'Log out of the company account too',
  'Sem acesso': 'No access',
  'A conta da empresa reconheceu <b>{name}</b>, mas nenhum dos seus grupos tem um papel no Confere. Peça o acesso a quem administra a conta da empresa e entre de novo.':
    'The company account recognised <b>{name}</b>, but none of your groups has a role in Confere. Ask the admins of the company account for access, and log in again.',
  'A conta da empresa reconheceu <b>{name}</b>, mas não enviou os seus grupos ao Confere: são muitos para o login, e sem eles não há papel. Avise quem opera o Confere; o acesso pode vir de um papel de aplicativo.':
    'The company account recognised <b>{name}</b>, but did not send your groups to Confere: there are too many for the login, and without them there is no role. Inform the operators of Confere; an app role can give access.',
  'Voltar ao login': 'Back to the login',
  // people
  Pessoas: 'People',
  'Pessoas que entram com a conta da empresa, as mais novas primeiro':
    'People who log in with the company account, the newest first',
  'Ninguém entrou com a conta da empresa até agora.': 'Nobody has logged in with the company account so far.',
  'Último login': 'Last login',
  'Sessões abertas': 'Open sessions',
  'Encerrar sessões': 'End sessions',
  'nome removido': 'name removed',
  recusada: 'denied',
  'O papel vale até o fim da sessão, no máximo doze horas; quem perdeu um grupo perde o papel no próximo login. Encerrar as sessões faz valer na hora.':
    'A role holds until the session ends, at most twelve hours; a group that somebody lost counts at the next login. Ending the sessions makes it count at once.',
};
