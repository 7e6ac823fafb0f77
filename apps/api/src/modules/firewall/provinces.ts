/** Code, English, Traditional and Simplified Chinese. Only with a database of cities nodes know them. */
const text = `
CN-AH Anhui|安徽|安徽
CN-BJ Beijing|北京|北京
CN-CQ Chongqing|重慶|重庆
CN-FJ Fujian|福建|福建
CN-GD Guangdong|廣東|广东
CN-GS Gansu|甘肅|甘肃
CN-GX Guangxi|廣西|广西
CN-GZ Guizhou|貴州|贵州
CN-HA Henan|河南|河南
CN-HB Hubei|湖北|湖北
CN-HE Hebei|河北|河北
CN-HI Hainan|海南|海南
CN-HL Heilongjiang|黑龍江|黑龙江
CN-HN Hunan|湖南|湖南
CN-JL Jilin|吉林|吉林
CN-JS Jiangsu|江蘇|江苏
CN-JX Jiangxi|江西|江西
CN-LN Liaoning|遼寧|辽宁
CN-NM Inner Mongolia|內蒙古|内蒙古
CN-NX Ningxia|寧夏|宁夏
CN-QH Qinghai|青海|青海
CN-SC Sichuan|四川|四川
CN-SD Shandong|山東|山东
CN-SH Shanghai|上海|上海
CN-SN Shaanxi|陝西|陕西
CN-SX Shanxi|山西|山西
CN-TJ Tianjin|天津|天津
CN-XJ Xinjiang|新疆|新疆
CN-XZ Tibet|西藏|西藏
CN-YN Yunnan|雲南|云南
CN-ZJ Zhejiang|浙江|浙江
TW-CHA Changhua County|彰化縣|彰化县
TW-CYI Chiayi City|嘉義市|嘉义市
TW-CYQ Chiayi County|嘉義縣|嘉义县
TW-HSQ Hsinchu County|新竹縣|新竹县
TW-HSZ Hsinchu City|新竹市|新竹市
TW-HUA Hualien County|花蓮縣|花莲县
TW-ILA Yilan County|宜蘭縣|宜兰县
TW-KEE Keelung City|基隆市|基隆市
TW-KHH Kaohsiung City|高雄市|高雄市
TW-KIN Kinmen County|金門縣|金门县
TW-LIE Lienchiang County|連江縣|连江县
TW-MIA Miaoli County|苗栗縣|苗栗县
TW-NAN Nantou County|南投縣|南投县
TW-NWT New Taipei City|新北市|新北市
TW-PEN Penghu County|澎湖縣|澎湖县
TW-PIF Pingtung County|屏東縣|屏东县
TW-TAO Taoyuan City|桃園市|桃园市
TW-TNN Tainan City|臺南市|台南市
TW-TPE Taipei City|臺北市|台北市
TW-TTT Taitung County|臺東縣|台东县
TW-TXG Taichung City|臺中市|台中市
TW-YUN Yunlin County|雲林縣|云林县
`;

export const provinces = text
  .trim()
  .split('\n')
  .map((line) => {
    const [code = ''] = line.split(' ', 1);
    return { code, names: line.slice(code.length + 1).split('|') };
  });
